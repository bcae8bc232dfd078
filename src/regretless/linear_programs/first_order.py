"""A primal-dual first-order method for sparse linear programs with one constraint matrix and many costs.

The primal-dual hybrid gradient with the additions of PDLP (Applegate et al., *Practical Large-Scale Linear Programming
using Primal-Dual Hybrid Gradient*, 2021): scaled rows and columns, adaptive steps, restarts from averages, and a primal
weight that is learned at restarts. Each program has its own step, weight and restarts. An iteration is two products
with a sparse matrix, so the number of rows matters little.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from torch import Tensor

from regretless.linear_programs.scaled_rows import ScaledRows, finite

ITERATIONS = 100_000
CHECK = 50
# Restart when the error fell to this share of that at the last restart, or to the second one and rises again, or when
# the time since the last restart is this share of all iterations.
SUFFICIENT, NECESSARY, LONG = 0.2, 0.8, 0.36
SMOOTH = 0.5


@dataclass
class _Pair:
    """A primal and a dual batch, ``(n, batch)`` and ``(rows, batch)``."""

    x: Tensor
    y: Tensor

    def take(self, chosen: Tensor) -> _Pair:
        return _Pair(self.x[:, chosen], self.y[:, chosen])

    def where(self, mask: Tensor, other: _Pair) -> _Pair:
        """This pair where ``mask`` ``(batch,)`` holds, the other one elsewhere."""
        return _Pair(torch.where(mask, self.x, other.x), torch.where(mask, self.y, other.y))


@dataclass
class _Errors:
    """Violations and values ``(batch,)`` of a pair: largest ones in the units of the model, norms as scaled."""

    primal: Tensor
    dual: Tensor
    value: Tensor
    bound: Tensor
    primal_norm: Tensor
    dual_norm: Tensor

    def weighted(self, weight: Tensor) -> Tensor:
        """One number per program, for restarts."""
        gap = self.value - self.bound
        return ((weight * self.primal_norm) ** 2 + (self.dual_norm / weight) ** 2 + gap**2).sqrt()

    def within(self, tolerance: float, size: float, least: Tensor) -> Tensor:
        """Mask of the programs that have converged, with the smallest cost ``(batch,)`` that is not 0."""
        # One large cost, such as a penalty on a slack, makes the objective small: the gap is relative to it alone.
        limit = tolerance * (least + self.value.abs())
        gap = (self.value - self.bound).abs() <= limit
        return (self.primal <= tolerance * size) & (self.dual <= limit.clamp(max=tolerance)) & gap


def solve_first_order(
    rows: ScaledRows, c: Tensor, *, tolerance: float, iterations: int = ITERATIONS, deadline: float | None = None
) -> tuple[Tensor, Tensor]:
    """Minimize ``c . x`` over the rows and bounds.

    A program has converged when the violations of its rows are at most ``tolerance``, relative to 1 plus the largest
    bound of a row, and those of its dual and its gap are so relative to the smallest cost plus the objective.

    Args:
        rows: the scaled constraints.
        c: ``(batch, n)`` costs.
        tolerance: of violations and gap.
        iterations: most iterations.
        deadline: value of ``time.monotonic()`` at which to stop.

    Returns:
        Points ``(batch, n)`` inside the bounds of the variables, and a mask ``(batch,)`` of those that converged.
    """
    # The costs of fixed variables change nothing, and a large one would hide the others.
    c = torch.where(rows.lower < rows.upper, c, 0.0)
    size = c.abs().amax(dim=1, keepdim=True)
    size = torch.where(size > 0, size, 1.0)
    cost = (c / size).T.contiguous() * rows.column
    least = torch.where(c != 0, (c / size).abs(), 1.0).amin(dim=1)
    state = _State(rows, cost)
    batch = len(c)
    final, done = state.now.x.clone(), torch.zeros(batch, dtype=torch.bool, device=c.device)
    at = torch.arange(batch, device=c.device)
    for count in range(1, iterations + 1):
        state.step(count)
        if count % CHECK:
            continue
        candidate, errors = state.candidate()
        good = errors.within(tolerance, rows.size, least[at])
        final[:, at] = candidate.x
        done[at] = good
        if bool(good.all()) or (deadline is not None and time.monotonic() > deadline):
            break
        if bool(good.any()):
            rest = (~good).nonzero()[:, 0]
            at = at[rest]
            state.keep(rest)
            candidate, errors = candidate.take(rest), _Errors(*(part[rest] for part in vars(errors).values()))
        state.restart(candidate, errors, count)
    return (final * rows.column).T.clamp(rows.lower, rows.upper), done


class _State:
    """The running state of the method; steps, weights and errors are ``(batch,)``."""

    def __init__(self, rows: ScaledRows, cost: Tensor) -> None:
        self.rows, self.cost = rows, cost
        batch = cost.shape[1]
        x = torch.zeros_like(cost).clamp(rows.low, rows.high)
        self.now = _Pair(x, cost.new_zeros(rows.A.shape[0], batch))
        self.dual_product = torch.zeros_like(cost)
        self.step_size = cost.new_full((batch,), 1.0 / rows.norm)
        size = rows.bound_norm
        self.weight = (cost.norm(dim=0) / size if size > 0 else cost.norm(dim=0)).clamp(1e-4, 1e4)
        self.anchor = self.now
        self.error_at_anchor = cost.new_full((batch,), torch.inf)
        self.last_error = cost.new_full((batch,), torch.inf)
        self.since = torch.zeros(batch, dtype=torch.int64, device=cost.device)
        self.sum = _Pair(torch.zeros_like(self.now.x), torch.zeros_like(self.now.y))
        self.total = torch.zeros_like(self.step_size)

    def step(self, count: int) -> None:
        """One iteration; a program whose step was too long stays where it is and tries a shorter one."""
        rows, now, eta, omega = self.rows, self.now, self.step_size, self.weight
        x = (now.x - (eta / omega) * (self.cost + self.dual_product)).clamp(rows.low, rows.high)
        dx = x - now.x
        sigma = eta * omega
        v = now.y + sigma * (rows.A @ (x + dx))
        y = v - sigma * (v / sigma).clamp(rows.row_low, rows.row_high)
        dy = y - now.y
        product = rows.transposed @ y
        moved = 0.5 * (omega * dx.square().sum(dim=0) + dy.square().sum(dim=0) / omega)
        met = (dx * (product - self.dual_product)).sum(dim=0).abs()
        limit = torch.where(met > 0, moved / met, torch.inf)
        accepted = eta <= limit
        self.now = _Pair(x, y).where(accepted, now)
        self.dual_product = torch.where(accepted, product, self.dual_product)
        weight = eta * accepted
        self.sum = _Pair(self.sum.x + weight * self.now.x, self.sum.y + weight * self.now.y)
        self.total = self.total + weight
        self.since = self.since + 1
        shrink, grow = 1.0 - (count + 1.0) ** -0.3, 1.0 + (count + 1.0) ** -0.6
        self.step_size = torch.minimum(shrink * limit, grow * eta)

    def candidate(self) -> tuple[_Pair, _Errors]:
        """The current point or the average since the last restart, whichever has the smaller error."""
        used = self.total > 0
        scale = torch.where(used, self.total, 1.0)
        average = _Pair(self.sum.x / scale, self.sum.y / scale).where(used, self.now)
        here, there = self._errors(self.now), self._errors(average)
        mask = there.weighted(self.weight) < here.weighted(self.weight)
        chosen = zip(vars(here).values(), vars(there).values(), strict=True)
        return average.where(mask, self.now), _Errors(*(torch.where(mask, b, a) for a, b in chosen))

    def restart(self, candidate: _Pair, errors: _Errors, count: int) -> None:
        """Move programs to their candidates where that pays, and balance their primal and dual steps."""
        error = errors.weighted(self.weight)
        due = error <= SUFFICIENT * self.error_at_anchor
        due |= (error <= NECESSARY * self.error_at_anchor) & (error > self.last_error)
        due |= self.since >= LONG * count
        self.last_error = torch.where(due, torch.inf, error)
        if not bool(due.any()):
            return
        dx, dy = (candidate.x - self.anchor.x).norm(dim=0), (candidate.y - self.anchor.y).norm(dim=0)
        useful = due & (dx > 1e-12) & (dy > 1e-12)
        balanced = torch.exp(SMOOTH * torch.log(dy / dx) + (1 - SMOOTH) * torch.log(self.weight))
        self.weight = torch.where(useful, balanced.clamp(1e-6, 1e6), self.weight)
        self.now = candidate.where(due, self.now)
        self.anchor = candidate.where(due, self.anchor)
        self.dual_product = torch.where(due, self.rows.transposed @ self.now.y, self.dual_product)
        self.error_at_anchor = torch.where(due, errors.weighted(self.weight), self.error_at_anchor)
        self.since = torch.where(due, 0, self.since)
        zero = _Pair(torch.zeros_like(self.now.x), torch.zeros_like(self.now.y))
        self.sum, self.total = zero.where(due, self.sum), torch.where(due, 0.0, self.total)

    def keep(self, chosen: Tensor) -> None:
        """Go on with the chosen programs only."""
        self.cost, self.dual_product = self.cost[:, chosen], self.dual_product[:, chosen]
        self.now, self.anchor, self.sum = self.now.take(chosen), self.anchor.take(chosen), self.sum.take(chosen)
        for name in ("step_size", "weight", "error_at_anchor", "last_error", "since", "total"):
            setattr(self, name, getattr(self, name)[chosen])

    def _errors(self, pair: _Pair) -> _Errors:
        rows = self.rows
        activity = rows.A @ pair.x
        outside = activity - activity.clamp(rows.row_low, rows.row_high)
        reduced = self.cost + rows.transposed @ pair.y
        # The sign of a reduced cost says at which bound the variable belongs; without that bound it is a violation.
        side = torch.where(reduced > 0, rows.low, rows.high)
        wrong = torch.isinf(side) & (reduced != 0)
        violation = torch.where(wrong, reduced, 0.0)
        bound = torch.where(wrong, 0.0, reduced * finite(side)).sum(dim=0)
        bound = bound - (pair.y * finite(torch.where(pair.y > 0, rows.row_high, rows.row_low))).sum(dim=0)
        return _Errors(
            primal=_largest(outside / rows.row),
            dual=_largest(violation / rows.column),
            value=(self.cost * pair.x).sum(dim=0),
            bound=bound,
            primal_norm=outside.norm(dim=0),
            dual_norm=violation.norm(dim=0),
        )


def _largest(values: Tensor) -> Tensor:
    return values.abs().amax(dim=0) if len(values) else values.sum(dim=0)
