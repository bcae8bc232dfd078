"""Which instances are worth a solve: small objects, kept apart from how the cache stores and finds."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regretless.errors import InputError, RegretlessWarning

if TYPE_CHECKING:
    from regretless.cache.solution_cache import SolutionCache

Mask = NDArray[np.bool_]
GapAt = Literal["lookup", "solve"]


class Policy(Protocol):
    """Decide which instances of a batch are solved exactly."""

    def choose(
        self, cache: SolutionCache, costs: Tensor, instance: Tensor | None, generator: np.random.Generator
    ) -> Mask:
        """Return a ``(batch,)`` mask of the instances to solve at ``costs`` ``(batch, width)``."""
        ...


class Bernoulli:
    """The paper's coin: each instance by itself is solved with probability ``p``.

    Args:
        p: probability of a solve.
        per: ``"instance"``, or ``"batch"``: one coin for all instances of a step. As many are solved in expectation, in
            fewer and larger lots, which a solver of whole batches does for less.

    >>> Bernoulli(0.05)
    Bernoulli(p=0.05)
    """

    def __init__(self, p: float, *, per: Literal["instance", "batch"] = "instance") -> None:
        if per not in ("instance", "batch"):
            raise InputError(f"per must be 'instance' or 'batch', got {per!r}")
        self.p, self.per = _share(p), per

    def __repr__(self) -> str:
        return f"Bernoulli(p={self.p})" if self.per == "instance" else f"Bernoulli(p={self.p}, per={self.per!r})"

    def choose(
        self, cache: SolutionCache, costs: Tensor, instance: Tensor | None, generator: np.random.Generator
    ) -> Mask:
        """Flip one coin an instance, or one for all."""
        if self.per == "instance":
            return generator.random(costs.shape[0]) < self.p
        return np.full(costs.shape[0], generator.random() < self.p)


class ByGap(ABC):
    """Base of the policies that look at the certified relative gap of each instance.

    With ``grow_at="transformed"`` an instance is solved at the cost that is looked up, and there is one gap to speak
    of. With ``"predicted"`` there are two: that at the cost that is looked up says how badly the cache serves the
    instance (``gap_at="lookup"``), that at the prediction how much a solve there can find (``gap_at="solve"``).

    A problem without a bound (no MILP and none of its own) has no gaps: then a coin with probability ``p`` decides, and
    a warning says so once.
    """

    def __init__(self, p: float, *, gap_at: GapAt) -> None:
        if gap_at not in ("lookup", "solve"):
            raise InputError(f"gap_at must be 'lookup' or 'solve', got {gap_at!r}")
        self.p, self.gap_at = _share(p), gap_at
        self._warned = False

    @abstractmethod
    def choose_by(self, gaps: NDArray[np.float64], generator: np.random.Generator) -> Mask:
        """Return a ``(batch,)`` mask from the relative gaps ``(batch,)``."""

    def choose(
        self, cache: SolutionCache, costs: Tensor, instance: Tensor | None, generator: np.random.Generator
    ) -> Mask:
        """Take the gaps of the batch and decide."""
        return self.choose_at(cache, [costs], instance, generator)

    def choose_at(
        self, cache: SolutionCache, costs: list[Tensor], instance: Tensor | None, generator: np.random.Generator
    ) -> Mask:
        """The same for several costs an instance: its gap is the largest of theirs."""
        if cache.bound is None:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"{self!r} needs a bound, and this problem has neither a MILP nor a bound of its own: "
                    f"a coin with probability {self.p:g} decides instead",
                    RegretlessWarning,
                    stacklevel=2,
                )
            return generator.random(len(costs[0])) < self.p
        gaps = np.stack([cache.note_gaps(each, instance) for each in costs]).max(axis=0)
        return self.choose_by(gaps, generator)


class LargestGap(ByGap):
    """The budget of a coin, spent on the largest gaps: as many as ``p`` gives heads, the largest first.

    An instance without a gap is not solved: the cache holds its optimum already.

    Args:
        p: of the coin.
        gap_at: with ``grow_at="predicted"``, which gap decides; see ``ByGap``. Where the cache serves worst is the
            better guide to spend few solves by.

    >>> LargestGap(0.01)
    LargestGap(p=0.01, gap_at='lookup')
    """

    def __init__(self, p: float, *, gap_at: GapAt = "lookup") -> None:
        super().__init__(p, gap_at=gap_at)

    def __repr__(self) -> str:
        return f"LargestGap(p={self.p}, gap_at={self.gap_at!r})"

    def choose_by(self, gaps: NDArray[np.float64], generator: np.random.Generator) -> Mask:
        """Flip the coins, then solve as many of the largest gaps (ties: the first)."""
        heads = int((generator.random(len(gaps)) < self.p).sum())
        mask = np.zeros(len(gaps), dtype=bool)
        mask[np.argsort(-gaps, kind="stable")[:heads]] = True
        return mask & (gaps > 0.0)


class GapAbove(ByGap):
    """Solve where the certified relative gap is larger than ``epsilon``.

    With ``grow_at="transformed"`` every answer is then within ``epsilon`` of the optimum, and at 0 it is optimal. With
    ``"predicted"`` this is so for the predictions, which are what S grows by.

    Args:
        epsilon: largest gap that is good enough.
        p: of the coin that decides where there is no bound.
        gap_at: with ``grow_at="predicted"``, which gap decides; see ``ByGap``. A gap where the solve happens is closed
            by it; another may stay open, and be solved for in vain in every epoch.

    >>> GapAbove(0.001)
    GapAbove(epsilon=0.001, gap_at='solve')
    """

    def __init__(self, epsilon: float = 0.0, *, p: float = 0.05, gap_at: GapAt = "solve") -> None:
        super().__init__(p, gap_at=gap_at)
        if not epsilon >= 0.0:
            raise InputError(f"epsilon must be at least 0, got {epsilon}")
        self.epsilon = float(epsilon)

    def __repr__(self) -> str:
        return f"GapAbove(epsilon={self.epsilon:g}, gap_at={self.gap_at!r})"

    def choose_by(self, gaps: NDArray[np.float64], generator: np.random.Generator) -> Mask:
        """Compare; no chance is involved."""
        return gaps > self.epsilon


class Falling(ByGap):
    """The coin or the largest gaps with a ``p`` that falls geometrically from ``first`` to ``last``, and then stays.

    ``p(t) = first * (last / first) ** min(t / (epochs * instances), 1)`` after t instances, which the cache counts.

    Args:
        first: at the beginning, above 0.
        last: at the end, above 0.
        epochs: passes over the data until then.
        instances: of one pass.
        coin: whether a coin decides, in place of the gaps.
        gap_at: as for ``LargestGap``.
    """

    def __init__(
        self,
        first: float,
        last: float,
        *,
        epochs: float,
        instances: int,
        coin: bool = False,
        gap_at: GapAt = "lookup",
    ) -> None:
        super().__init__(first, gap_at=gap_at)
        self.first, self.last, self.coin = _share(first), _share(last), coin
        if not 0.0 < self.last <= self.first:
            raise InputError(f"p_solve falls: it needs first >= last > 0, got {first} and {last}")
        if not epochs > 0 or instances < 1:
            raise InputError(f"epochs must be positive and instances at least 1, got {epochs} and {instances}")
        self.epochs, self.instances = float(epochs), int(instances)

    def __repr__(self) -> str:
        kind = "coin" if self.coin else f"gap_at={self.gap_at!r}"
        return f"Falling({kind}, {self.first} to {self.last}, epochs={self.epochs:g}, instances={self.instances})"

    def at(self, asked: int) -> float:
        """The probability after ``asked`` instances."""
        passed = min(asked / (self.epochs * self.instances), 1.0)
        return float(self.first * (self.last / self.first) ** passed)

    def choose_at(
        self, cache: SolutionCache, costs: list[Tensor], instance: Tensor | None, generator: np.random.Generator
    ) -> Mask:
        """Set ``p`` by what the cache was asked so far, then decide."""
        self.p = self.at(cache.statistics.asked)
        if self.coin:
            return generator.random(len(costs[0])) < self.p
        return super().choose_at(cache, costs, instance, generator)

    def choose_by(self, gaps: NDArray[np.float64], generator: np.random.Generator) -> Mask:
        """Solve the largest gaps, as many as ``p`` gives heads."""
        return LargestGap(self.p).choose_by(gaps, generator)


def _share(p: float) -> float:
    if not 0.0 <= p <= 1.0:
        raise InputError(f"p_solve must be between 0 and 1, got {p}")
    return float(p)
