"""The interface of a lower bound, the Lagrangian bound of MILPs and families, and the bound of a problem itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, get_args

import torch
from torch import Tensor

from regretless.cache.bounds.milp_bound import CLOSED, MilpBound
from regretless.errors import InputError
from regretless.family import Family, member
from regretless.milp import MILP
from regretless.problem import Problem

BoundKind = Literal["own", "lagrangian", "linear"]
SEEDS = 64


class Bound(Protocol):
    """A lower bound on the optimum at any cost, for minimization, without an exact solve.

    A bound that does not learn needs only ``__call__``: the other methods do nothing by default.
    """

    def __call__(
        self, costs: Tensor, instance: Tensor | None = None, *, value: Tensor | None = None, note: bool = False
    ) -> Tensor:
        """Bounds ``(batch,)`` in float64 at costs ``(batch, width)``.

        Args:
            costs: minimization costs.
            instance: ``(batch,)`` ids, for families.
            value: ``(batch,)`` best known values; a bound that reaches them needs no more work.
            note: whether this call is a step of a run, from which the bound may learn.
        """

    def learn(self, costs: Tensor, instance: Tensor | None, value: Tensor) -> None:
        """Learn from costs whose optima ``value`` ``(batch,)`` are known."""
        return

    def seed(self, costs: Tensor, instance: Tensor | None = None) -> None:
        """Learn from the costs of a training set, before the first step."""
        return

    def state_dict(self) -> dict[str, Any]:
        """The state that a resumed run needs."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore ``state``."""
        return


class LagrangianBound(Bound):
    """The Lagrangian bound with cached multipliers, for any MILP or family; see ``MilpBound``.

    Each instance of a family has its own multipliers, because it has its own rows.

    Args:
        model: a MILP or a family.
        linear: if no stored multiplier closes the gap, also solve the relaxation (one warm-started linear program).
    """

    def __init__(self, model: MILP | Family, *, linear: bool = False) -> None:
        self.model, self.linear = model, linear
        self._members: dict[int, MilpBound] = {}

    def member(self, index: int = 0) -> MilpBound:
        """The bound of one instance."""
        if index not in self._members:
            self._members[index] = MilpBound(member(self.model, index))
        return self._members[index]

    def __call__(
        self, costs: Tensor, instance: Tensor | None = None, *, value: Tensor | None = None, note: bool = False
    ) -> Tensor:
        """Bounds ``(batch,)``; see ``Bound``."""
        rows = _on_cpu(costs)
        best = torch.empty(len(rows), dtype=torch.float64)
        for index, place in _by_instance(instance, len(rows)):
            member, own = self.member(index), rows[place]
            bounds = member(own, note=note)
            if self.linear:
                known = bounds.new_full((len(own),), torch.inf) if value is None else _on_cpu(value)[place]
                # Without a known value every gap is open.
                left = (bounds < known - CLOSED * known.abs().nan_to_num(posinf=0.0)).nonzero()[:, 0]
                bounds[left] = torch.maximum(bounds[left], member.relax(own[left], keep=note))
            best[place] = bounds
        return best.to(costs.device)

    def learn(self, costs: Tensor, instance: Tensor | None, value: Tensor) -> None:
        """Add multipliers of the relaxation at solved costs for which the stored ones leave a gap."""
        rows, values = _on_cpu(costs), _on_cpu(value)
        for index, place in _by_instance(instance, len(rows)):
            self.member(index).learn(rows[place], values[place])

    def seed(self, costs: Tensor, instance: Tensor | None = None) -> None:
        """Add multipliers of the relaxation at costs spread over the training set."""
        rows = _on_cpu(costs)
        for index, place in _by_instance(instance, len(rows)):
            own = rows[place]
            few = torch.linspace(0, len(own) - 1, min(SEEDS, len(own))).round().to(torch.int64)
            self.member(index).seed(own[few])

    def state_dict(self) -> dict[str, Any]:
        """The multipliers of every instance used so far."""
        return {"members": [[index, member.state_dict()] for index, member in sorted(self._members.items())]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore ``state``."""
        self._members = {}
        for index, saved in state["members"]:
            self.member(int(index)).load_state_dict(saved)


class OwnBound(Bound):
    """The bound of a problem itself: a function of the costs, which does not learn."""

    def __init__(self, function: Callable[[Tensor, Tensor | None], Tensor]) -> None:
        self.function = function

    def __call__(
        self, costs: Tensor, instance: Tensor | None = None, *, value: Tensor | None = None, note: bool = False
    ) -> Tensor:
        """Bounds ``(batch,)``; see ``Bound``."""
        return self.function(costs.detach().to(torch.float64), instance)


def make_bound(problem: Problem, kind: BoundKind | Bound | None = None) -> Bound | None:
    """Return the bound of a problem.

    Args:
        problem: the problem.
        kind: ``"own"``, ``"lagrangian"``, ``"linear"`` or a bound; ``None`` for the bound of the problem itself if it
            has one, else the Lagrangian bound if it has a MILP.

    Returns:
        The bound, or ``None`` if ``kind`` is ``None`` and the problem has neither.

    Raises:
        InputError: an unknown kind, or one that the problem does not have.
    """
    if callable(kind) and not isinstance(kind, type):
        return kind
    if not isinstance(kind, str | None) or kind not in (None, *get_args(BoundKind)):
        got = f"the class {kind.__name__}" if isinstance(kind, type) else repr(kind)
        raise InputError(f"bound must be 'own', 'lagrangian', 'linear' or a bound, got {got}")
    if kind == "own" and problem.bound is None:
        raise InputError("bound='own' needs a problem with its own bound: Problem(..., bound=function)")
    if kind in ("lagrangian", "linear") and problem.model is None:
        raise InputError(f"bound={kind!r} needs a problem with a MILP, this one has only a solver function")
    if problem.bound is not None and kind in (None, "own"):
        return OwnBound(problem.bound)
    return None if problem.model is None else LagrangianBound(problem.model, linear=kind == "linear")


def _on_cpu(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", torch.float64)


def _by_instance(instance: Tensor | None, batch: int) -> list[tuple[int, Any]]:
    """The instances of a batch, and the positions of each."""
    if instance is None:
        return [(0, slice(None))] if batch else []
    ids = instance.cpu()
    return [(index, (ids == index).nonzero()[:, 0]) for index in sorted(set(ids.tolist()))]
