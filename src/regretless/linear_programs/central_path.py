"""Primal-dual path following for the quadratic program, and to a given point of the central path of the linear one."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from regretless.linear_programs.normal_equations import NormalEquations
from regretless.linear_programs.standard_form import StandardForm

ITERATIONS = 60
TOLERANCE = 1e-10  # relative size of the final residuals
BACK_OFF = 0.995
# A step shorter than SHORT_STEP is replaced by one to the center of the path, at the share RECENTER of the current mu.
SHORT_STEP, RECENTER = 0.1, 0.8
# So is a step from a point with a product this many times the mean: the next steps would only oscillate around it.
SCATTERED = 30.0


class Point(NamedTuple):
    """A batch of primal-dual points: all ``(batch, n + slacks)`` except ``y``.

    Attributes:
        z: variables and slacks.
        y: ``(batch, rows)`` multipliers of the rows.
        below, above: distances to the lower and upper bounds, 1 if there is no bound.
        low, high: multipliers of the bounds, 0 if there is no bound.
    """

    z: Tensor
    y: Tensor
    below: Tensor
    above: Tensor
    low: Tensor
    high: Tensor

    @classmethod
    def centered(cls, form: StandardForm, batch: int, mu: Tensor) -> Point:
        """The starting point of the form with multipliers ``mu / distance``; ``mu`` is ``(batch, 1)``."""
        z = form.start.expand(batch, -1).clone()
        below = torch.where(form.has_lower > 0, z - form.lower, 1.0)
        above = torch.where(form.has_upper > 0, form.upper - z, 1.0)
        y = z.new_zeros(batch, len(form.A))
        return cls(z, y, below, above, form.has_lower * mu / below, form.has_upper * mu / above)

    def take(self, chosen: Tensor) -> Point:
        """The chosen instances."""
        return Point(*(part[chosen] for part in self))

    def put(self, chosen: Tensor, other: Point) -> None:
        """Overwrite the chosen instances."""
        for part, new in zip(self, other, strict=True):
            part[chosen] = new

    def curvature(self) -> Tensor:
        """Diagonal ``low / below + high / above``."""
        return self.low / self.below + self.high / self.above

    def mu(self, form: StandardForm) -> Tensor:
        """Mean complementarity ``(batch, 1)``."""
        total = (self.below * self.low + self.above * self.high).sum(dim=1, keepdim=True)
        return total / (form.has_lower.sum() + form.has_upper.sum()).clamp(min=1)


def longest_step(value: Tensor, change: Tensor) -> Tensor:
    """Largest steps ``(batch, 1)``, at most ``1 / BACK_OFF``, that keep ``value + step * change`` positive."""
    # This is the minimum of value / -change over negative changes; 1 / max(-change / value) needs no masks.
    worst = (-change / value).amax(dim=1, keepdim=True)
    return 1.0 / worst.clamp(min=BACK_OFF)


def follow_path(
    form: StandardForm, c: Tensor, quadratic: float, mu: float, start: Point | None = None
) -> tuple[Point, Tensor]:
    """Solve ``min c . x + quadratic / 2 |x|^2 - mu sum log(distances to the bounds)`` subject to ``E z = b``.

    Mehrotra's predictor-corrector method, with a target that never falls below ``mu``. Each instance has its own step
    lengths and scale; instances that have converged leave the batch.

    Args:
        form: the constraints.
        c: ``(batch, n)``.
        quadratic: weight of the quadratic term, not negative.
        mu: barrier parameter, in the units of the costs; 0 for no barrier.
        start: initial point, in the units of the costs.

    Returns:
        The points in the units of the costs, and a mask ``(batch,)`` of those that converged; the others are not
        solutions.
    """
    batch, slacks = len(c), len(form.lower) - form.n
    scale = c.abs().amax(dim=1, keepdim=True).clamp(min=max(quadratic, mu))
    scale = torch.where(scale > 0, scale, 1.0)
    cost = torch.cat([c / scale, c.new_zeros(batch, slacks)], dim=1)
    weight = torch.cat([(quadratic / scale).expand(-1, form.n), c.new_zeros(batch, slacks)], dim=1)
    floor = mu / scale
    if start is None:
        point = Point.centered(form, batch, _first_mu(form, cost).clamp(min=floor))
    else:
        point = start._replace(y=start.y / scale, low=start.low / scale, high=start.high / scale)
    at, done = torch.arange(batch, device=c.device), torch.zeros(batch, dtype=torch.bool, device=c.device)
    final = point.take(at)
    for iteration in range(ITERATIONS + 1):
        r = cost + weight * point.z - form.transposed(point.y) - point.low + point.high
        s = form.b - form.apply(point.z)
        now = point.mu(form)
        # In the last iteration, a point that is good enough for a gradient is accepted.
        loose = 1e4 if iteration == ITERATIONS else 1.0
        good = _converged(form, point, r, s, floor, loose * TOLERANCE)
        ended = good | ~torch.isfinite(now[:, 0])
        if bool(ended.any()):
            final.put(at[good], point.take(good))
            done[at[good]] = True
            rest = ~ended
            at, point, cost, weight, floor = at[rest], point.take(rest), cost[rest], weight[rest], floor[rest]
            r, s, now = r[rest], s[rest], now[rest]
        if len(at) == 0 or iteration == ITERATIONS:
            break
        # Products far below the tolerance would only harm the arithmetic of the last steps.
        _step(form, point, weight, r, s, now, floor.clamp(min=1e-3 * TOLERANCE))
    return final._replace(y=final.y * scale, low=final.low * scale, high=final.high * scale), done


def _converged(form: StandardForm, point: Point, r: Tensor, s: Tensor, floor: Tensor, tolerance: float) -> Tensor:
    """Mask of the instances whose residuals and products have reached their targets."""
    spread = torch.maximum(
        (point.below * point.low - form.has_lower * floor).abs().amax(dim=1),
        (point.above * point.high - form.has_upper * floor).abs().amax(dim=1),
    )
    # The multipliers of a barrier have its own size, so the residuals must be small relative to it.
    dual = torch.where(floor > 0, (1e4 * tolerance * floor).clamp(1e-4 * tolerance, tolerance), tolerance)[:, 0]
    products = torch.where(floor > 0, 100 * tolerance * floor, 0.01 * tolerance)[:, 0]
    primal = tolerance * (1.0 + _worst(form.b[None]))
    return (r.abs().amax(dim=1) <= dual) & (_worst(s) <= primal) & (spread <= products)


def _step(form: StandardForm, at: Point, weight: Tensor, r: Tensor, s: Tensor, mu: Tensor, floor: Tensor) -> None:
    """One predictor-corrector step, in place."""
    system = NormalEquations(form, weight + at.curvature())
    pull = -r - at.low + at.high

    def direction(first: Tensor, second: Tensor) -> tuple[Tensor, ...]:
        """Newton direction towards products ``first`` and ``second``, and the longest step along it."""
        dz, dy = system.solve(pull + first / at.below - second / at.above, s)
        below, above = form.has_lower * dz, -form.has_upper * dz
        low = (first - at.low * below) / at.below - at.low
        high = (second - at.high * above) / at.above - at.high
        values = [at.below, at.above, *(torch.where(v > 0, v, 1.0) for v in (at.low, at.high))]
        step = longest_step(torch.cat(values, dim=1), torch.cat([below, above, low, high], dim=1))
        return dz, dy, below, above, low, high, step

    # Predictor: the length of a step straight to the target shows how much centering is needed.
    _, _, below, above, low, high, step = direction(form.has_lower * floor, form.has_upper * floor)
    step = step.clamp(max=1.0)
    there = (at.below + step * below) * (at.low + step * low) + (at.above + step * above) * (at.high + step * high)
    count = (form.has_lower.sum() + form.has_upper.sum()).clamp(min=1)
    left = (there.sum(dim=1, keepdim=True) / count - floor) / (mu - floor).clamp(min=1e-300)
    target = floor + left.clamp(0.0, 1.0) ** 3 * (mu - floor).clamp(min=0.0)
    found = direction(form.has_lower * target - below * low, form.has_upper * target - above * high)
    largest = torch.maximum(at.below * at.low, at.above * at.high).amax(dim=1, keepdim=True)
    stuck = (found[-1] < SHORT_STEP) | (largest > SCATTERED * torch.maximum(mu, floor))
    if bool(stuck.any()):
        # The second-order term is misleading far from the path: move to its center first.
        target = torch.maximum(RECENTER * mu, floor)
        back = direction(form.has_lower * target, form.has_upper * target)
        found = tuple(torch.where(stuck, b, a) for a, b in zip(found, back, strict=True))
    step = (BACK_OFF * found[-1]).clamp(max=1.0)
    for value, change in zip(at, found[:-1], strict=True):
        value += step * change


def _first_mu(form: StandardForm, cost: Tensor) -> Tensor:
    """Mean change of the objective per variable between the start and the nearest bound."""
    near = torch.minimum(
        torch.where(form.has_lower > 0, form.start - form.lower, torch.inf),
        torch.where(form.has_upper > 0, form.upper - form.start, torch.inf),
    )
    near = torch.where(torch.isfinite(near), near, 0.0)
    return (cost.abs() * near).mean(dim=1, keepdim=True).clamp(min=1e-4)


def _worst(s: Tensor) -> Tensor:
    return s.abs().amax(dim=1) if s.shape[1] else s.sum(dim=1)
