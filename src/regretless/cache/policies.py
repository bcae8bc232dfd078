"""Policies: which instances of a batch are worth an exact solve; what they see of a batch, and the coins they flip."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regretless.arrays import Array
from regretless.errors import InputError, RegretlessWarning
from regretless.milp import Floats
from regretless.number_checks import check_integer, check_number
from regretless.ranks import Ranks

GapAt = Literal["lookup", "solve"]
Mask = NDArray[np.bool_]


class Batch:
    """Size and certified gaps of a batch; a policy that needs no gaps costs no bound.

    Args:
        at: tensors ``(batch, width)`` of the costs at which heads are solved.
        queries: those at which everything is looked up.
        asked: instances that the policy decided on before this batch.
        gaps_at: gaps ``(batch,)`` at costs, or ``None`` for a problem without a bound.

    Attributes:
        size: number of instances.
    """

    def __init__(
        self,
        at: Sequence[Tensor | Array],
        queries: Sequence[Tensor | Array],
        *,
        asked: int,
        gaps_at: Callable[[Tensor | Array], Floats | None],
    ) -> None:
        self.size, self.asked = at[0].shape[0], asked
        self._at, self._queries, self._gaps_at = at, queries, gaps_at

    def gaps(self, at: GapAt) -> Floats | None:
        """Certified relative gaps ``(size,)``, computed on request: the largest of each instance over its costs."""
        found = [self._gaps_at(costs) for costs in (self._at if at == "solve" else self._queries)]
        known = [gaps for gaps in found if gaps is not None]
        return np.stack(known).max(axis=0) if known else None


class Coins:
    """One generator for all steps; for ranks that share a cache, one per rank and step.

    A generator per step depends on the number of the step only: no rank needs the generators of the others to
    continue from a checkpoint.
    """

    def __init__(self, seed: int) -> None:
        self.seed = check_integer("seed", seed, least=0)
        self._generator = np.random.default_rng(seed)
        self._steps = 0  # of ranks

    def of_step(self, ranks: Ranks | None) -> np.random.Generator:
        """The generator of the next step."""
        if ranks is None:
            return self._generator
        self._steps += 1
        return np.random.default_rng([self.seed, ranks.rank, self._steps])

    def state_dict(self) -> dict[str, Any]:
        """State of the generator, and the number of steps."""
        return {"coin": self._generator.bit_generator.state, "steps": self._steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from ``state``; the files of version 0.1 hold no steps."""
        self._generator.bit_generator.state = state["coin"]
        self._steps = state.get("steps", 0)


class Policy(Protocol):
    """Decides which instances of a batch are solved exactly."""

    def choose(self, batch: Batch, generator: np.random.Generator) -> Mask:
        """Return a ``(size,)`` mask of the instances to solve."""


class Bernoulli:
    """The paper's coin: each instance is solved with probability ``p``, independently of the others.

    Args:
        p: probability of a solve.
        per: ``"instance"``, or ``"batch"`` for one coin per step. The expected number of solves is the same, in fewer
            and larger groups, which is cheaper where the solver takes batches.

    >>> Bernoulli(0.05)
    Bernoulli(p=0.05)
    """

    def __init__(self, p: float, *, per: Literal["instance", "batch"] = "instance") -> None:
        if per not in ("instance", "batch"):
            raise InputError(f"per must be 'instance' or 'batch', got {per!r}")
        self.p, self.per = _share(p), per

    def __repr__(self) -> str:
        return f"Bernoulli(p={self.p})" if self.per == "instance" else f"Bernoulli(p={self.p}, per={self.per!r})"

    def choose(self, batch: Batch, generator: np.random.Generator) -> Mask:
        """Flip one coin per instance, or one for the batch."""
        if self.p == 0.0:  # a search asks for thousands of instances per step
            return np.zeros(batch.size, dtype=bool)
        if self.per == "instance":
            return generator.random(batch.size) < self.p
        return np.full(batch.size, generator.random() < self.p)


class _ByGap(ABC):
    """Base of the policies that use the certified relative gap of each instance.

    With ``grow_at="transformed"`` an instance is solved at the cost vector of the look-up and has one gap. With
    ``"predicted"`` it has two. The gap at the cost of the look-up tells how well the cache serves the instance
    (``gap_at="lookup"``). The gap at the prediction tells how much a solve there can improve (``gap_at="solve"``).

    A problem without a bound (no MILP and no bound function) has no gaps. A coin with probability ``p`` then decides,
    and a warning is issued once.
    """

    def __init__(self, p: float, *, gap_at: GapAt) -> None:
        if gap_at not in ("lookup", "solve"):
            raise InputError(f"gap_at must be 'lookup' or 'solve', got {gap_at!r}")
        self.p, self.gap_at = _share(p), gap_at
        self._warned = False

    def choose(self, batch: Batch, generator: np.random.Generator) -> Mask:
        """Decide by the gaps of the batch."""
        gaps = batch.gaps(self.gap_at)
        if gaps is not None:
            return self._choose_by(gaps, generator)
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{self!r} needs a bound, and this problem has neither a MILP nor a bound function: "
                f"a coin with probability {self.p:g} decides instead",
                RegretlessWarning,
                stacklevel=2,
            )
        return generator.random(batch.size) < self.p

    @abstractmethod
    def _choose_by(self, gaps: Floats, generator: np.random.Generator) -> Mask:
        """Return a mask from the relative gaps."""


class LargestGap(_ByGap):
    """The budget of a coin, spent on the largest gaps: as many instances as ``p`` gives heads, largest gap first.

    An instance without a gap is not solved: the cache holds its optimum already.

    Args:
        p: probability of the coin.
        gap_at: which gap decides with ``grow_at="predicted"``: ``"lookup"`` (default) or ``"solve"``.

    >>> LargestGap(0.01)
    LargestGap(p=0.01, gap_at='lookup')
    """

    def __init__(self, p: float, *, gap_at: GapAt = "lookup") -> None:
        super().__init__(p, gap_at=gap_at)

    def __repr__(self) -> str:
        return f"LargestGap(p={self.p}, gap_at={self.gap_at!r})"

    def _choose_by(self, gaps: Floats, generator: np.random.Generator) -> Mask:
        heads = int((generator.random(len(gaps)) < self.p).sum())
        mask = np.zeros(len(gaps), dtype=bool)
        mask[np.argsort(-gaps, kind="stable")[:heads]] = True
        return mask & (gaps > 0.0)


class GapAbove(_ByGap):
    """Solve where the certified relative gap is larger than ``epsilon``.

    With ``grow_at="transformed"`` every answer is then within ``epsilon`` of the optimum, and optimal for 0. With
    ``"predicted"`` this holds at the predictions. In a cache with a capacity it does not hold: the solutions of a step
    may replace a member that closed a gap of the same step.

    Args:
        epsilon: largest gap that is accepted.
        p: probability of the coin that decides where there is no bound.
        gap_at: which gap decides with ``grow_at="predicted"``. A solve closes the gap at the prediction
            (``"solve"``, default); a gap at ``"lookup"`` may stay open and cause a solve in every epoch.

    >>> GapAbove(0.001)
    GapAbove(epsilon=0.001, gap_at='solve')
    """

    def __init__(self, epsilon: float = 0.0, *, p: float = 0.05, gap_at: GapAt = "solve") -> None:
        super().__init__(p, gap_at=gap_at)
        self.epsilon = check_number("epsilon", epsilon, least=0)

    def __repr__(self) -> str:
        return f"GapAbove(epsilon={self.epsilon:g}, gap_at={self.gap_at!r})"

    def _choose_by(self, gaps: Floats, generator: np.random.Generator) -> Mask:
        return gaps > self.epsilon


class Falling:
    """A coin or the largest gaps, with a ``p`` that falls geometrically from ``first`` to ``last`` and then stays.

    ``p(t) = first * (last / first) ** min(t / (epochs * instances), 1)`` after t instances.

    Args:
        first: probability at the start, above 0.
        last: probability at the end, above 0.
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
        self.first, self.last, self.coin, self.gap_at = _share(first), _share(last), coin, gap_at
        if not 0.0 < self.last <= self.first:
            raise InputError(f"p_solve falls: it needs first >= last > 0, got {first} and {last}")
        self.epochs, self.instances = check_number("epochs", epochs), check_integer("instances", instances, least=1)
        self._policy = Bernoulli(first) if coin else LargestGap(first, gap_at=gap_at)

    def __repr__(self) -> str:
        kind = "coin" if self.coin else f"gap_at={self.gap_at!r}"
        return f"Falling({kind}, {self.first} to {self.last}, epochs={self.epochs:g}, instances={self.instances})"

    def at(self, asked: int) -> float:
        """The probability after ``asked`` instances."""
        passed = min(asked / (self.epochs * self.instances), 1.0)
        return float(self.first * (self.last / self.first) ** passed)

    def choose(self, batch: Batch, generator: np.random.Generator) -> Mask:
        """Decide with the probability that is due now."""
        self._policy.p = self.at(batch.asked)
        return self._policy.choose(batch, generator)


def checked_policy(policy: Any) -> Policy:
    """Return a policy; a name, a class or anything else that cannot choose is refused."""
    if isinstance(policy, type) or not callable(getattr(policy, "choose", None)):
        got = f"the class {policy.__name__}" if isinstance(policy, type) else repr(policy)
        raise InputError(f"policy must be an object with choose(batch, generator), such as GapAbove(0.01), got {got}")
    found: Policy = policy
    return found


def checked_mask(policy: Policy, mask: Any, size: int) -> Mask:
    """Return what a policy has chosen; anything but one boolean per instance is refused."""
    found = np.asarray(mask)
    if found.dtype.kind != "b" or found.shape != (size,):
        raise InputError(
            f"{type(policy).__name__}.choose must return a mask, {size} booleans, got {found.dtype} values of shape "
            f"{found.shape}"
        )
    return found


def _share(p: Any) -> float:
    return check_number("p_solve", p, least=0, most=1)
