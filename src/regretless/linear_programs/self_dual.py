"""The homogeneous self-dual embedding of a linear program: it detects infeasible and unbounded programs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regretless.linear_programs.central_path import BACK_OFF, Point, longest_step
from regretless.linear_programs.normal_equations import NormalEquations
from regretless.linear_programs.standard_form import StandardForm
from regretless.types import Status

ITERATIONS = 100
# Residuals fall with mu in the embedding; below this value, relative to the costs, it gives no more information.
SMALLEST = 1e-12


@dataclass
class _Embedded:
    """A point of the embedding: a primal-dual point in homogeneous coordinates with the scalars ``(batch, 1)``."""

    point: Point
    tau: Tensor
    kappa: Tensor

    def take(self, chosen: Tensor) -> _Embedded:
        return _Embedded(self.point.take(chosen), self.tau[chosen], self.kappa[chosen])

    def put(self, chosen: Tensor, other: _Embedded) -> None:
        self.point.put(chosen, other.point)
        self.tau[chosen], self.kappa[chosen] = other.tau, other.kappa


def solve_self_dual(form: StandardForm, c: Tensor, *, cutoff: float = 0.0) -> tuple[Point, list[Status]]:
    """Follow the central path of the embedding until the barrier parameter ``mu / tau^2`` falls below the cutoff.

    Find ``E z = b tau``, ``c tau - E' y - low + high = 0``, ``-c . z + b . y + l . low - u . high = kappa`` with all
    distances, multipliers, ``tau`` and ``kappa`` positive and their products equal. ``tau > 0`` at the end gives an
    optimum ``z / tau``; ``kappa > 0`` proves that there is none (Ye, Todd and Mizuno 1994; Mandi and Guns 2020,
    section 3).

    Args:
        form: the constraints.
        c: ``(batch, n)`` costs.
        cutoff: barrier parameter at which to stop, in the units of the costs.

    Returns:
        The points ``z / tau`` in the units of the costs, and the status of each instance: optimal (the cutoff was
        reached), infeasible, unbounded, or error (no progress).
    """
    batch = len(c)
    scale = c.abs().amax(dim=1, keepdim=True).clamp(min=cutoff)
    scale = torch.where(scale > 0, scale, 1.0)
    cost = torch.cat([c / scale, c.new_zeros(batch, len(form.lower) - form.n)], dim=1)
    goal = (cutoff / scale).clamp(min=SMALLEST)
    one = torch.ones_like(scale)
    now = _Embedded(Point.centered(form, batch, one), one.clone(), one.clone())
    final = now.take(torch.arange(batch, device=c.device))
    status = [Status.ERROR] * batch
    at = torch.arange(batch, device=c.device)
    for _ in range(ITERATIONS):
        rp, rd, gap, mu = _residuals(form, cost, now)
        parameter = (mu / now.tau.square())[:, 0]
        reached = parameter <= goal[:, 0]
        # A ray: tau tends to 0 and kappa does not.
        ray = (now.tau < 1e-6 * now.kappa)[:, 0] & (mu[:, 0] < 1e-8)
        lost = ~torch.isfinite(mu[:, 0])
        ended = reached | ray | lost
        if bool(ended.any()):
            final.put(at[ended & ~lost], now.take(ended & ~lost))
            falls = (cost * now.point.z).sum(dim=1) < 0
            for row, place in zip(ended.nonzero()[:, 0].tolist(), at[ended].tolist(), strict=True):
                if reached[row]:
                    status[place] = Status.OPTIMAL
                elif ray[row]:
                    status[place] = Status.UNBOUNDED if falls[row] else Status.INFEASIBLE
            rest = ~ended
            if not bool(rest.any()):
                break
            at, now, cost, goal = at[rest], now.take(rest), cost[rest], goal[rest]
            rp, rd, gap, mu = rp[rest], rd[rest], gap[rest], mu[rest]
        _step(form, cost, now, rp, rd, gap, mu)
    p, tau = final.point, final.tau
    below = torch.where(form.has_lower > 0, p.below / tau, 1.0)
    above = torch.where(form.has_upper > 0, p.above / tau, 1.0)
    return Point(p.z / tau, p.y / tau * scale, below, above, p.low / tau * scale, p.high / tau * scale), status


def _residuals(form: StandardForm, c: Tensor, now: _Embedded) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    p, tau = now.point, now.tau
    rp = form.b * tau - form.apply(p.z)
    rd = c * tau - form.transposed(p.y) - p.low + p.high
    gap = (p.y * form.b).sum(1) + (form.lower * p.low - form.upper * p.high - c * p.z).sum(1)
    count = form.has_lower.sum() + form.has_upper.sum() + 1
    mu = ((p.below * p.low + p.above * p.high).sum(1, keepdim=True) + tau * now.kappa) / count
    return rp, rd, gap[:, None] - now.kappa, mu


def _step(form: StandardForm, c: Tensor, now: _Embedded, rp: Tensor, rd: Tensor, gap: Tensor, mu: Tensor) -> None:
    """One predictor-corrector step, in place."""
    p, tau, kappa = now.point, now.tau, now.kappa
    system = NormalEquations(form, p.curvature())
    pull_low, pull_high = p.low / p.below * form.lower, p.high / p.above * form.upper
    # The part of the direction that is proportional to d tau.
    along, along_y = system.solve(pull_low + pull_high - c, form.b.expand(len(c), -1))
    across = c + pull_low + pull_high
    pivot = (form.b * along_y).sum(1) - (across * along).sum(1)
    pivot = pivot[:, None] + (pull_low * form.lower + pull_high * form.upper).sum(1, keepdim=True) + kappa / tau

    def direction(low: Tensor, high: Tensor, last: Tensor, eta: Tensor) -> tuple[Tensor, ...]:
        """Newton direction for complementarity right-hand sides, and a share ``eta`` of the residuals."""
        push_low, push_high = low / p.below, high / p.above
        dz, dy = system.solve(push_low - push_high - eta * rd, eta * rp)
        right = (across * dz - form.lower * push_low + form.upper * push_high).sum(1) - (form.b * dy).sum(1)
        dtau = (right[:, None] - eta * gap + last / tau) / pivot
        dz, dy = dz + along * dtau, dy + along_y * dtau
        below, above = form.has_lower * (dz - form.lower * dtau), form.has_upper * (form.upper * dtau - dz)
        dlow, dhigh = push_low - p.low / p.below * below, push_high - p.high / p.above * above
        return dz, dy, below, above, dlow, dhigh, dtau, (last - kappa * dtau) / tau

    def limit(change: tuple[Tensor, ...]) -> Tensor:
        _, _, below, above, dlow, dhigh, dtau, dkappa = change
        low = torch.where(form.has_lower > 0, p.low, 1.0)
        high = torch.where(form.has_upper > 0, p.high, 1.0)
        values = torch.cat([p.below, p.above, low, high, tau, kappa], dim=1)
        return longest_step(values, torch.cat([below, above, dlow, dhigh, dtau, dkappa], dim=1))

    one = torch.ones_like(tau)
    first = direction(-p.below * p.low, -p.above * p.high, -tau * kappa, one)
    step = limit(first).clamp(max=1.0)
    # Rule of Andersen and Andersen: the shorter the first step, the more centering.
    gamma = (1.0 - step).square() * torch.minimum(torch.full_like(step, 0.1), 1.0 - step)
    target = gamma * mu
    _, _, below, above, dlow, dhigh, dtau, dkappa = first
    second = direction(
        form.has_lower * target - p.below * p.low - below * dlow,
        form.has_upper * target - p.above * p.high - above * dhigh,
        target - tau * kappa - dtau * dkappa,
        1.0 - gamma,
    )
    step = (BACK_OFF * limit(second)).clamp(max=1.0)
    for value, change in zip((*p, tau, kappa), second, strict=True):
        value += step * change
