"""What a bound is, the Lagrangian one for programmes and families, and a problem's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from regretless.cache.bounds.bound_program import CLOSED, ProgrammeBound
from regretless.errors import InputError
from regretless.family import Family, member
from regretless.milp import MILP
from regretless.problem import Problem

Kind = Literal["own", "lagrangian", "linear"]
SEEDS = 64


class Bound(Protocol):
    """A lower bound on the optimum at any cost, minimising, with no exact solve."""

    def __call__(
        self, costs: Tensor, instance: Tensor | None = None, *, value: Tensor | None = None, note: bool = False
    ) -> Tensor:
        """Bounds ``(batch,)`` in float64 at costs ``(batch, width)``.

        Args:
            costs: minimising costs.
            instance: ``(batch,)`` ids, for families.
            value: ``(batch,)`` best known values: where they are reached, no more work is needed.
            note: whether this is a step of a run, from which the bound may learn.
        """
        ...

    def learn(self, costs: Tensor, instance: Tensor | None, value: Tensor) -> None:
        """Learn from costs that were solved exactly, to ``value`` ``(batch,)``."""
        ...

    def seed(self, costs: Tensor, instance: Tensor | None = None) -> None:
        """Learn from the costs of a training set, before the first step."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run needs to go on alike."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from ``state``."""
        ...


class LagrangianBound:
    """The Lagrangian bound with cached multipliers, for any programme or family; see ``ProgrammeBound``.

    Each instance of a family has multipliers of its own, since its rows are its own.

    Args:
        model: a programme or a family.
        most: multipliers to keep, for each instance.
        linear: where no kept multiplier closes the gap, solve the relaxation as well (one warm-started LP).
    """

    def __init__(self, model: MILP | Family, *, most: int = 32, linear: bool = False) -> None:
        self.model, self.most, self.linear = model, most, linear
        self._members: dict[int, ProgrammeBound] = {}

    def member(self, index: int = 0) -> ProgrammeBound:
        """The bound of one instance."""
        if index not in self._members:
            self._members[index] = ProgrammeBound(member(self.model, index), most=self.most)
        return self._members[index]

    def __call__(
        self, costs: Tensor, instance: Tensor | None = None, *, value: Tensor | None = None, note: bool = False
    ) -> Tensor:
        """Bounds ``(batch,)``; see ``Bound``."""
        rows = _plain(costs)
        best = torch.empty(len(rows), dtype=torch.float64)
        for index, place in _split(instance, len(rows)):
            member, mine = self.member(index), rows[place]
            bounds = member(mine, note=note)
            if self.linear:
                known = bounds.new_full((len(mine),), torch.inf) if value is None else _plain(value)[place]
                # Without a known value every cost is open.
                left = (bounds < known - CLOSED * known.abs().nan_to_num(posinf=0.0)).nonzero()[:, 0]
                bounds[left] = torch.maximum(bounds[left], member.relax(mine[left], keep=note))
            best[place] = bounds
        return best.to(costs.device)

    def learn(self, costs: Tensor, instance: Tensor | None, value: Tensor) -> None:
        """Multipliers of the relaxation where a solved cost shows that the kept ones leave a gap."""
        rows, values = _plain(costs), _plain(value)
        for index, place in _split(instance, len(rows)):
            self.member(index).learn(rows[place], values[place])

    def seed(self, costs: Tensor, instance: Tensor | None = None) -> None:
        """Multipliers of the relaxation at costs spread over the training set."""
        rows = _plain(costs)
        for index, place in _split(instance, len(rows)):
            mine = rows[place]
            few = torch.linspace(0, len(mine) - 1, min(SEEDS, len(mine))).round().to(torch.int64)
            self.member(index).seed(mine[few])

    def state_dict(self) -> dict[str, Any]:
        """The multipliers of every instance that was met."""
        return {"members": [[index, member.state_dict()] for index, member in sorted(self._members.items())]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from ``state``."""
        self._members = {}
        for index, saved in state["members"]:
            self.member(int(index)).load_state_dict(saved)


class OwnBound:
    """A problem's own bound, a function of the costs alone: nothing to learn, nothing to keep."""

    def __init__(self, function: Callable[[Tensor, Tensor | None], Tensor]) -> None:
        self.function = function

    def __call__(
        self, costs: Tensor, instance: Tensor | None = None, *, value: Tensor | None = None, note: bool = False
    ) -> Tensor:
        """Bounds ``(batch,)``; see ``Bound``."""
        return self.function(costs.detach().to(torch.float64), instance)

    def learn(self, costs: Tensor, instance: Tensor | None, value: Tensor) -> None:
        """Nothing."""

    def seed(self, costs: Tensor, instance: Tensor | None = None) -> None:
        """Nothing."""

    def state_dict(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Nothing."""


def make_bound(problem: Problem, kind: Kind | Bound | None = None) -> Bound | None:
    """Return the bound of a problem.

    Args:
        problem: what is bounded.
        kind: ``"own"``, ``"lagrangian"``, ``"linear"`` or a bound; ``None`` takes the problem's own where it has one,
            else the Lagrangian one where there is a MILP.

    Returns:
        The bound, or ``None`` where ``kind`` is ``None`` and the problem has neither.

    Raises:
        InputError: an unknown kind, or one that the problem does not have.
    """
    if kind is not None and not isinstance(kind, str):
        return kind
    if kind not in (None, "own", "lagrangian", "linear"):
        raise InputError(f"bound must be 'own', 'lagrangian', 'linear' or a bound, got {kind!r}")
    if kind == "own" and problem.bound is None:
        raise InputError("bound='own' needs a problem with a bound of its own: Problem(..., bound=function)")
    if kind in ("lagrangian", "linear") and problem.model is None:
        raise InputError(f"bound={kind!r} needs a problem with a MILP, this one has only a solver function")
    if problem.bound is not None and kind in (None, "own"):
        return OwnBound(problem.bound)
    return None if problem.model is None else LagrangianBound(problem.model, linear=kind == "linear")


def _plain(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", torch.float64)


def _split(instance: Tensor | None, batch: int) -> list[tuple[int, Any]]:
    """Instances of a batch, and where each of them stands."""
    if instance is None:
        return [(0, slice(None))] if batch else []
    ids = instance.cpu()
    return [(index, (ids == index).nonzero()[:, 0]) for index in sorted(set(ids.tolist()))]
