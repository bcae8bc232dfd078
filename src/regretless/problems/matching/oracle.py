"""The bound and the exact oracle of diverse matching: assignment, one multiplier, and a MIP if the bound stays open."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regretless.milp import Floats
from regretless.problems.matching.cora import Bools
from regretless.problems.matching.core_mip import Answer, search, slack
from regretless.problems.matching.formulation import Side, make_sides
from regretless.problems.matching.lagrangian import assign, best_multiplier, mix, narrow, reduced_costs, value
from regretless.types import Solved, Status

LATTICE = 1e6  # costs count as integer multiples of one number up to this many times it


class MatchingBound:
    """The value of the best assignment, or of the best assignment with a priced side row, bounds every matching.

    It takes one assignment per cost vector, and a few more if a side row is violated, but no MIP.

    Args:
        same: ``(instances, left, right)`` masks of pairs that share their field.
        p: least share of pairs that share their field.
        q: least share of pairs that do not.
    """

    def __init__(self, same: Bools, p: float, q: float) -> None:
        self.sides = make_sides(same, p, q)
        self.shape: tuple[int, int] = (same.shape[1], same.shape[2])

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Bounds ``(batch,)`` at minimization costs ``(batch, left * right)``."""
        gains = -costs.detach().cpu().to(torch.float64).numpy().reshape(len(costs), *self.shape)
        ids = [0] * len(gains) if instance is None else instance.tolist()
        bounds = np.zeros(len(gains))
        for k, (gain, index) in enumerate(zip(gains, ids, strict=True)):
            top = float(gain.max())
            if top > 0:  # otherwise the empty matching is optimal
                side, scaled = self.sides[index], gain / top
                partners = assign(scaled)
                if not side.holds(*side.counts(partners)):
                    scaled = best_multiplier(scaled, side, partners).shifted
                    partners = assign(scaled)
                bounds[k] = -top * value(scaled, partners)
        return torch.as_tensor(bounds, device=costs.device)


class MatchingOracle:
    """Solve ``min c . x`` over the matchings of an instance, exactly (relative 1e-9) and with free software.

    1. Assignment. If it satisfies the side rows, it is optimal.
    2. Otherwise, the best multiplier of the violated row. Two matchings that are best for it are mixed component by
       component. If the mix reaches the bound, it is optimal.
    3. Otherwise, a MIP over the pairs whose reduced costs allow them in a better matching, a few hundred of 2500.

    If several matchings are optimal, the answer depends only on the costs and the instance. If all costs are integer
    multiples of one number (0/1 labels), it is one with the fewest pairs: a pair without a gain is included only if the
    side rows need it, so that the true optimum consists of links as far as possible.

    Args:
        same: ``(instances, left, right)`` masks of pairs that share their field.
        p: least share of pairs that share their field.
        q: least share of pairs that do not.
        time_limit: seconds per small MIP; a solve that reaches it returns the best matching found and its gap.
    """

    def __init__(self, same: Bools, p: float, q: float, *, time_limit: float | None = None) -> None:
        self.sides = make_sides(same, p, q)
        self.time_limit = time_limit
        self.shape: tuple[int, int] = (same.shape[1], same.shape[2])
        self.by_stage = {"assignment": 0, "multiplier": 0, "mip": 0}

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, left * right)`` costs; see ``regretless.types.Backend``."""
        gains = -costs.detach().cpu().to(torch.float64).numpy()
        ids = [0] * len(gains) if instance is None else instance.tolist()
        solution = np.zeros((len(gains), *self.shape))
        status, gap, message = [Status.OPTIMAL] * len(gains), [0.0] * len(gains), {}
        for k, (gain, index) in enumerate(zip(gains, ids, strict=True)):
            answer = self._solve_one(gain.reshape(self.shape), self.sides[index])
            left = np.flatnonzero(answer.partners >= 0)
            solution[k, left, answer.partners[left]] = 1.0
            if answer.status is not Status.OPTIMAL:
                status[k], message[k] = answer.status, f"the small MIP ended with '{answer.status}'"
                gap[k] = (answer.bound - answer.best) / max(abs(answer.best), 1e-12)
        flat = solution.reshape(len(gains), self.shape[0] * self.shape[1])
        return Solved.of_arrays(costs.device, flat, status, gap, message, flat if decision else None)

    def _solve_one(self, gain: Floats, side: Side) -> Answer:
        gain, unit = _scaled(gain)
        partners = assign(gain)
        if side.holds(*side.counts(partners)):
            self.by_stage["assignment"] += 1
            return Answer(partners)
        bound = best_multiplier(gain, side, partners)
        reduced, most = reduced_costs(bound.shifted)
        answer = Answer(np.full_like(partners, -1), most)
        for closer in (False, True):
            mixed = mix(narrow(bound, side) if closer else bound, side)
            if mixed is not None and value(gain, mixed) > answer.best:
                answer = Answer(mixed, most, value(gain, mixed))
            if slack(most, answer.best, unit) < 0:
                self.by_stage["multiplier"] += 1
                return answer
        self.by_stage["mip"] += 1
        return search(gain, side, reduced, answer, unit=unit, time_limit=self.time_limit)


def _scaled(gain: Floats) -> tuple[Floats, float]:
    """Scale gains to a maximum of 1, or to integers whose best matchings are those with the fewest pairs.

    Returns:
        The gains, and the unit of which every value of a matching is an integer multiple (0 if there is none).
    """
    top = gain.max()
    if not top > 0:
        return np.minimum(gain, 0.0), 0.0
    step = np.abs(gain[gain != 0]).min()
    multiples = gain / step
    if np.abs(multiples).max() <= LATTICE and (multiples == np.round(multiples)).all():
        return multiples * (min(gain.shape) + 1.0) - 1.0, 1.0
    return gain / top, 0.0
