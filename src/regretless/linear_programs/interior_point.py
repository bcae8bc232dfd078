"""Mehrotra's predictor-corrector method for linear programs with one constraint matrix and many costs.

It is faster than the self-dual embedding: every program starts at the analytic center of the feasible set, which
presolve has found, and takes separate steps for the primal and the dual variables. It proves nothing where it does not
converge; the embedding decides those cases.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from regretless.cuda_graphs import CapturedSteps
from regretless.linear_programs.normal_equations import NormalEquations
from regretless.linear_programs.standard_form import StandardForm

ITERATIONS = 100
BACK_OFF = 0.995
# From a point with a product this many times the mean, the next steps would be short: the step goes towards the center
# first, at the share RECENTER of the mean, and without the second-order term, which is misleading there. Few steps need
# this, but without it programs with thousands of variables do not converge at the costs of SPO+.
SCATTERED, RECENTER = 100.0, 0.5
# No program converges earlier, so the first check comes then.
FIRST_CHECK = 5
# Programs that have ended leave the batch when they are this share of it: moving the others has a cost as well.
LEAVE = 0.2
# The objective is known up to this share of the largest cost, and of the sum of its terms: the rest is rounding.
ROUNDING = 1e-14
# Numbers of a batch up to which a GPU is faster with captured launches than with a batch that shrinks.
LAUNCH_BOUND = 1 << 22


class Iterate(NamedTuple):
    """A batch of primal-dual points.

    Attributes:
        z: ``(batch, n + slacks)`` variables and slacks.
        y: ``(batch, rows)`` multipliers of the rows.
        distance: ``(batch, 2 (n + slacks))`` to the lower and then to the upper bounds, 1 where there is none.
        multiplier: of these bounds, 0 where there is none.
    """

    z: Tensor
    y: Tensor
    distance: Tensor
    multiplier: Tensor

    def take(self, chosen: Tensor) -> Iterate:
        """The chosen programs."""
        return Iterate(*(part[chosen] for part in self))

    def put(self, chosen: Tensor, other: Iterate) -> None:
        """Overwrite the chosen programs."""
        for part, new in zip(self, other, strict=True):
            part[chosen] = new


@dataclass
class _State:
    """Programs that are being solved: costs, current and final points, and masks ``(batch,)`` of how they ended."""

    cost: Tensor
    now: Iterate
    final: Iterate
    good: Tensor
    ended: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.cost, *self.now, *self.final, self.good, self.ended

    def take(self, chosen: Tensor) -> _State:
        return _State(
            self.cost[chosen], self.now.take(chosen), self.final.take(chosen), self.good[chosen], self.ended[chosen]
        )


def solve_interior(
    form: StandardForm, c: Tensor, *, tolerance: float = 1e-8, deadline: float | None = None
) -> tuple[Iterate, Tensor, Tensor]:
    """Minimize ``c . x`` over the form.

    A program has converged when the violations of its rows are at most ``tolerance``, relative to 1 plus the right-hand
    side (see ``StandardForm.weights``), and its dual residuals and its gap are so relative to the objective.

    Args:
        form: the constraints, with a strictly feasible start.
        c: ``(batch, n)`` costs.
        tolerance: of the residuals and the gap.
        deadline: value of ``time.monotonic()`` at which to stop.

    Returns:
        The points, for costs whose largest entry is 1; a mask ``(batch,)`` of those that converged; the factors
        ``(batch, 1)`` by which the costs were divided.
    """
    scale = c.abs().amax(dim=1, keepdim=True)
    scale = torch.where(scale > 0, scale, 1.0)
    method = form.remember(("interior", tolerance), lambda: _Method(form, tolerance))
    cost = torch.cat([c / scale, c.new_zeros(len(c), len(form.lower) - form.n)], dim=1)
    if launch_bound(form, len(c)):
        state = method.captured.run(cost, first_check=FIRST_CHECK, most=ITERATIONS + 1, deadline=deadline)
        return Iterate(*(part[: len(c)].clone() for part in state.final)), state.good[: len(c)].clone(), scale
    state = method.begin(cost)
    final, done = Iterate(*(part.clone() for part in state.final)), state.good.clone()
    at = torch.arange(len(c), device=c.device)
    for iteration in range(ITERATIONS + 1):
        method.advance(state)
        if iteration < FIRST_CHECK:
            continue
        left = int((~state.ended).sum())
        late = iteration == ITERATIONS or (deadline is not None and time.monotonic() > deadline)
        if left == 0 or late or left <= (1 - LEAVE) * len(at):
            final.put(at, state.final)
            done[at] = state.good
            if left == 0 or late:
                break
            rest = ~state.ended
            at, state = at[rest], state.take(rest)
    return final, done, scale


def launch_bound(form: StandardForm, batch: int) -> bool:
    """Whether launching operations on so many programs takes longer than computing them, as on a GPU with few."""
    plain = form.A.is_cuda and len(form.free) == 0 and len(form.A) > 0
    return plain and batch * len(form.lower) <= LAUNCH_BOUND


class _Method:
    """The method for one form; ``has`` and ``bound`` stand for lower bounds first, then for upper bounds."""

    def __init__(self, form: StandardForm, tolerance: float) -> None:
        self.form, self.tolerance, self.width = form, tolerance, len(form.lower)
        self.has = torch.cat([form.has_lower, form.has_upper])
        self.bound = torch.cat([form.lower, -form.upper])
        self.missing = 1.0 - self.has
        self.count = float(self.has.sum().clamp(min=1.0))
        self.primal_room = tolerance / form.weights
        self.captured = CapturedSteps(partial(self.begin, checked=False), self.advance)

    def begin(self, cost: Tensor, *, checked: bool = True) -> _State:
        """Programs at the start; see ``NormalEquations`` for ``checked``."""
        now = self._start(cost, checked)
        nothing = torch.zeros(len(cost), dtype=torch.bool, device=cost.device)
        return _State(cost.clone(), now, Iterate(*(part.clone() for part in now)), nothing, nothing.clone())

    def advance(self, state: _State) -> None:
        """Keep the points that have converged, then make one step; in place and without a synchronization."""
        now = state.now
        reduced = state.cost - self.form.transposed(now.y)
        primal = self.form.b - self.form.apply(now.z)
        products = (now.distance * now.multiplier).sum(dim=1, keepdim=True)
        mu = products / self.count
        good = self._converged(state, reduced, primal, products[:, 0])
        new = (good & ~state.good)[:, None]
        for part, current in zip(state.final, now, strict=True):
            torch.where(new, current, part, out=part)
        state.good |= good
        torch.logical_or(state.good, ~torch.isfinite(mu[:, 0]), out=state.ended)
        self._step(now, reduced, primal, mu)

    def _start(self, cost: Tensor, checked: bool) -> Iterate:
        """The center, with multipliers of the reduced costs at the rows' best multipliers there."""
        form = self.form
        z = form.start.expand(len(cost), -1).clone()
        distance = torch.where(self.has > 0, torch.cat([z, -z], dim=1) - self.bound, 1.0)
        near = torch.where(self.has > 0, distance, torch.inf)
        near = torch.minimum(near[:, : self.width], near[:, self.width :]).clamp(max=1e3)
        _, y = NormalEquations(form, near.square().reciprocal(), checked=checked).solve(-cost)
        reduced = cost - form.transposed(y)
        mu = (reduced.abs() * near).mean(dim=1, keepdim=True).clamp(min=1e-8)
        multiplier = torch.cat([reduced, -reduced], dim=1).clamp(min=0.0) + mu / distance
        return Iterate(z, y, distance, self.has * multiplier)

    def _converged(self, state: _State, reduced: Tensor, primal: Tensor, products: Tensor) -> Tensor:
        """Mask ``(batch,)`` of the programs whose residuals and gap are small."""
        now = state.now
        dual = reduced - self._folded(now.multiplier)
        terms = state.cost * now.z
        value = terms.sum(dim=1)
        gap = value - now.y @ self.form.b - now.multiplier @ self.bound
        # One large cost, such as a penalty on a slack, makes the objective small: the gap is relative to it alone.
        limit = torch.maximum(self.tolerance * value.abs(), ROUNDING * (1.0 + terms.abs().sum(dim=1)))
        # The residuals can cancel in the gap, so the products are tested as well.
        good = torch.maximum(gap.abs(), products) <= limit
        good &= dual.abs().amax(dim=1) <= limit.clamp(max=self.tolerance)
        if primal.shape[1]:
            good &= (primal.abs() <= self.primal_room).all(dim=1)
        return good

    def _step(self, now: Iterate, reduced: Tensor, primal: Tensor, mu: Tensor) -> None:
        """One predictor-corrector step, in place."""
        ratio = now.multiplier / now.distance
        system = NormalEquations(self.form, ratio[:, : self.width] + ratio[:, self.width :], checked=False)

        def direction(products: Tensor | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
            """Newton direction towards ``products`` of distances and multipliers (zero when ``None``)."""
            share = None if products is None else products / now.distance
            right = -reduced if share is None else self._folded(share) - reduced
            dz, dy = system.solve(right, primal, refine=products is not None)
            away = self.has * torch.cat([dz, -dz], dim=1)
            change = -now.multiplier - ratio * away
            return dz, dy, away, change if share is None else change + share

        _, _, away, change = direction(None)
        first, second = self._longest(now, away, change)
        ahead = (now.distance + first * away) * (now.multiplier + second * change)
        left = (ahead.sum(dim=1, keepdim=True) / self.count / mu).clamp(0.0, 1.0)
        scattered = (now.distance * now.multiplier).amax(dim=1, keepdim=True) > SCATTERED * mu
        share = torch.where(scattered, (left**3).clamp(min=RECENTER), left**3)
        second_order = torch.where(scattered, 0.0, away * change)
        dz, dy, away, change = direction(self.has * (share * mu) - second_order)
        first, second = (BACK_OFF * step for step in self._longest(now, away, change))
        for value, step, move in zip(now, (first, second, first, second), (dz, dy, away, change), strict=True):
            value += step * move

    def _longest(self, now: Iterate, away: Tensor, change: Tensor) -> tuple[Tensor, Tensor]:
        """Longest steps ``(batch, 1)``, at most 1, that keep distances and multipliers nonnegative."""
        first = (-away / now.distance).amax(dim=1, keepdim=True)
        second = (-change / (now.multiplier + self.missing)).amax(dim=1, keepdim=True)
        return first.clamp(min=1.0).reciprocal(), second.clamp(min=1.0).reciprocal()

    def _folded(self, pairs: Tensor) -> Tensor:
        """Values of lower bounds less those of upper bounds."""
        return pairs[:, : self.width] - pairs[:, self.width :]
