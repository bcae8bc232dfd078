"""Whether decision-focused training pays: the held-out gain over two-stage by exact solves, with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless import metrics
from regretless.instance_weights import relative_weights
from regretless.number_text import number_text, percentage
from regretless.search.scores import HeldOut

# Numbers of a block of resamples.
BLOCK = 1 << 18
RESAMPLES = 2000
LEVEL = 0.95
CLEAR = 3.0
FULL_WEIGHT = 2.0
# Instances that are solved exactly: at least, for the first look, and shares of all of them, one after the other.
LEAST, FIRST, SHARES = 50, 25, (0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Verdict:
    """Exact regret of the search's model and of two-stage on held-out folds.

    Attributes:
        two_stage: mean regret per instance of two-stage, in units of the objective.
        model: mean regret of the model that the search found.
        gain: mean difference per instance; positive where the model is better.
        error: standard error of the gain, from the sample deviation; NaN for fewer than two instances.
        low, high: paired bootstrap interval of the gain; NaN for fewer than two instances.
        level: coverage of the interval.
        instances: number of held-out instances.
        scale: mean absolute objective of the true optima of these instances, for percentages.
        pays: whether the interval lies above zero.

    The result of a search is an average of the model that it found and two-stage, with the ``weight`` of the evidence.
    A gain within its uncertainty is partly chance, and the average of two good models is often better than either.
    """

    two_stage: float
    model: float
    gain: float
    error: float
    low: float
    high: float
    level: float
    instances: int
    scale: float
    pays: bool

    @property
    def weight(self) -> float:
        """Share of the model in the result: 0 where there is no gain, 1 where it exceeds two standard errors.

        It is also 0 where the uncertainty of the gain is not known.
        """
        if not self.gain > 0 or math.isnan(self.error):
            return 0.0
        return 1.0 if self.error == 0 else min(1.0, self.gain / (FULL_WEIGHT * self.error))

    @property
    def clear(self) -> bool:
        """Whether more instances could hardly change the sign of the gain: it exceeds three standard errors."""
        return abs(self.gain) > CLEAR * self.error

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def __str__(self) -> str:
        if not self.instances:
            return "Whether decision-focused training pays here is not known: no held-out instance was solved."
        figures = f"held-out regret {self._regret(self.model)} against {self._regret(self.two_stage)} for two-stage"
        if math.isnan(self.error):
            return f"Whether decision-focused training pays here is not known from one held-out instance: {figures}."
        figures += f"; {self.gain_words}"
        if self.pays:
            return f"Decision-focused training pays here: {figures}."
        if self.weight == 0.0:
            return f"Decision-focused training does not pay here: {figures}."
        return f"Decision-focused training may pay here, but the gain is within its uncertainty: {figures}."

    @property
    def gain_words(self) -> str:
        """The gain with its interval."""
        interval = f"{number_text(self.low)} to {number_text(self.high)}"
        return f"gain {number_text(self.gain)} per instance, {100 * self.level:.0f} % interval {interval}"

    def _regret(self, value: float) -> str:
        """A regret, with its share of the objective where that is not zero."""
        return number_text(value) + (f" ({percentage(value / self.scale)} %)" if self.scale > 0 else "")


def judge(two_stage: Tensor, model: Tensor, optimal: Tensor, *, seed: int = 0) -> Verdict:
    """Compare exact held-out regrets ``(n,)`` of two models, instance by instance.

    Args:
        two_stage: regrets of the baseline; NaN where a solve failed.
        model: regrets of the model that was chosen.
        optimal: ``(n,)`` objectives of the true optima.
        seed: of the bootstrap.
    """
    known = ~(torch.isnan(two_stage) | torch.isnan(model))
    a, b = two_stage[known].numpy(), model[known].numpy()
    gain = a - b
    generator = np.random.default_rng(seed)
    mean, low, high, error = float(gain.mean()) if len(gain) else math.nan, math.nan, math.nan, math.nan
    if len(gain) > 1:  # one instance says nothing about the spread of all
        # In blocks: all resamples at once would take n times 2,000 numbers.
        n, block = len(gain), max(1, BLOCK // len(gain))
        sizes = [min(block, RESAMPLES - start) for start in range(0, RESAMPLES, block)]
        means = np.concatenate([gain[generator.integers(n, size=(size, n))].mean(axis=1) for size in sizes])
        low, high = (float(q) for q in np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
        error = float(gain.std(ddof=1) / np.sqrt(n))
    return Verdict(
        two_stage=float(a.mean()) if len(a) else math.nan,
        model=float(b.mean()) if len(b) else math.nan,
        gain=mean,
        error=error,
        low=low,
        high=high,
        level=LEVEL,
        instances=int(known.sum()),
        scale=float(optimal[known].abs().mean()),
        pays=low > 0.0,
    )


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
