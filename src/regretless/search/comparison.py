"""The exact comparison with two-stage: on few held-out instances first, on more while the difference is not clear."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regretless import metrics
from regretless.instance_weights import relative_weights
from regretless.search.scores import HeldOut
from regretless.search.verdict import Verdict, judge

LEAST = 50
FIRST = 25
SHARES = (0.25, 0.5, 1.0)


class Comparison:
    """Exact regrets of two-stage and of the model of a search, on held-out instances in a random order.

    The two-stage predictions of the first part are solved at once, so that their solutions serve the search.

    Args:
        held_out: where exact regrets come from.
        two_stage: held-out predictions ``(n, d)``.
        seed: of the order, and of the bootstrap.
        most: largest share of the instances that are scored.
    """

    def __init__(self, held_out: HeldOut, two_stage: Tensor, *, seed: int, most: float = 1.0) -> None:
        self._held_out, self._predicted, self._seed = held_out, two_stage, seed
        self._parts = scored_parts(len(two_stage), seed, most)
        held_out.exact(two_stage, self._parts[0])

    def verdict(self, predicted: Tensor) -> Verdict:
        """Compare held-out predictions ``(n, d)``, on one part of the instances after the other."""
        data, problem = self._held_out.data, self._held_out.cache.problem
        optimal = metrics.optimal_values(problem, data.costs, data.solutions, data.instance)
        if (counts := relative_weights(data.weight)) is not None:
            optimal = counts * optimal
        for end in range(1, len(self._parts) + 1):
            some = torch.cat(self._parts[:end])
            two_stage, model = (self._held_out.exact(costs, some) for costs in (self._predicted, predicted))
            verdict = judge(two_stage, model, optimal[some], seed=self._seed)
            if verdict.clear:
                break
        return verdict


def first_rows(n: int, seed: int) -> Tensor:
    """The first 25 instances that are scored, or all of fewer."""
    return _order(n, seed)[:FIRST].sort().values


def scored_parts(n: int, seed: int, most: float = 1.0) -> list[Tensor]:
    """Parts of the instances in a random order: a quarter (at least 50), up to a half, up to the share ``most``."""
    order = _order(n, seed)
    ends = sorted({min(n, max(LEAST, math.ceil(n * min(share, most)))) for share in SHARES})
    return [order[start:end].sort().values for start, end in zip([0, *ends], ends, strict=False)]


def _order(n: int, seed: int) -> Tensor:
    return torch.randperm(n, generator=torch.Generator().manual_seed(seed))
