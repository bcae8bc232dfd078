"""The exact oracle of diverse matching: assignment, one multiplier, and a small MIP where the bound stays open."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.problems.matching.core import Answer, search, slack
from regretless.problems.matching.formulation import check_shares
from regretless.problems.matching.instances import Bools
from regretless.problems.matching.lagrange import Bound, Side, assign, best_multiplier, mix, narrow, prices, value
from regretless.types import Solved, Status

LATTICE = 1e6  # costs count as whole multiples of one number up to this many times it


class MatchingOracle:
    """Solve ``min c . x`` over the matchings of a family's instance, exactly (relative 1e-9) and without a licence.

    1. Assignment. Where it keeps the side rows, it is optimal.
    2. Where it does not, the best multiplier of the broken row; two matchings that are best for it are mixed part by
       part. Where the mix reaches the bound, it is optimal.
    3. Otherwise a MIP over the pairs whose reduced costs allow them to be in a better matching, a few hundred of 2500.

    Where several matchings are best the answer depends only on the costs and the instance. Where all costs are whole
    multiples of one number (0/1 labels), it is one with the fewest pairs: a pair that earns nothing is made only where
    the side rows need it, so that the true optimum consists of links as far as possible.

    Args:
        same: ``(instances, left, right)`` masks of pairs that share their field.
        p: least share of pairs of one field.
        q: least share of pairs of two fields.
        time_limit: seconds for one small MIP; a solve that runs into it returns the best matching found and its gap.
    """

    def __init__(self, same: Bools, p: float, q: float, *, time_limit: float | None = None) -> None:
        check_shares(p, q)
        if same.ndim != 3:
            raise InputError(f"same must have shape (instances, left, right), got {same.shape}")
        self.sides = tuple(Side(np.ascontiguousarray(one, dtype=bool), p, q) for one in same)
        self.time_limit = time_limit
        self.shape: tuple[int, int] = (same.shape[1], same.shape[2])
        self.by_stage = {"assignment": 0, "multiplier": 0, "mip": 0}

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, left * right)`` costs; see ``regretless.types.Backend``."""
        gains = -costs.detach().cpu().to(torch.float64).numpy()
        ids = [0] * len(gains) if instance is None else instance.tolist()
        solution = np.zeros((len(gains), *self.shape))
        status, gap, message = [Status.OPTIMAL] * len(gains), np.zeros(len(gains)), {}
        for k, (gain, index) in enumerate(zip(gains, ids, strict=True)):
            answer = self._solve_one(gain.reshape(self.shape), self.sides[index])
            left = np.flatnonzero(answer.partners >= 0)
            solution[k, left, answer.partners[left]] = 1.0
            if answer.status is not Status.OPTIMAL:
                status[k], message[k] = answer.status, f"the small MIP ended with '{answer.status}'"
                gap[k] = (answer.bound - answer.best) / max(abs(answer.best), 1e-12)
        out = torch.as_tensor(solution.reshape(len(gains), self.shape[0] * self.shape[1]), device=costs.device)
        plain = not message
        return Solved(
            solution=out,
            status=None if plain else status,
            gap=None if plain else torch.as_tensor(gap),
            decision=out if decision else None,
            message=message,
        )

    def _solve_one(self, gain: Floats, side: Side) -> Answer:
        gain, unit = _scaled(gain)
        partners = assign(gain)
        if side.holds(*side.counts(partners)):
            self.by_stage["assignment"] += 1
            return Answer(partners)
        bound = best_multiplier(gain, side, partners)
        reduced, most = prices(bound.shifted)
        answer = Answer(np.full_like(partners, -1), most)
        for pair in _closer(bound, side):
            mixed = mix(pair, side)
            if mixed is not None and value(gain, mixed) > answer.best:
                answer = Answer(mixed, most, value(gain, mixed))
            if slack(most, answer.best, unit) < 0:
                self.by_stage["multiplier"] += 1
                return answer
        self.by_stage["mip"] += 1
        return search(gain, side, reduced, answer, unit=unit, time_limit=self.time_limit)


def _scaled(gain: Floats) -> tuple[Floats, float]:
    """Gains with a largest one of 1, or whole numbers whose best matchings are those with fewest pairs.

    Returns:
        the gains, and the unit of which every value of a matching is a whole multiple (0 where there is none).
    """
    top = gain.max()
    if not top > 0:
        return np.minimum(gain, 0.0), 0.0
    step = np.abs(gain[gain != 0]).min()
    whole = gain / step
    if np.abs(whole).max() <= LATTICE and (whole == np.round(whole)).all():
        return whole * (min(gain.shape) + 1.0) - 1.0, 1.0
    return gain / top, 0.0


def _closer(bound: Bound, side: Side) -> Iterator[Bound]:
    """The pair of matchings as it was found, and, where that is not enough, a closer one."""
    yield bound
    yield narrow(bound, side)
