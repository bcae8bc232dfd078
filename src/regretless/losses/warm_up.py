"""One loss for the first steps, another one after them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

from torch import Tensor

from regretless.errors import InputError
from regretless.losses.base import Loss
from regretless.number_checks import check_integer
from regretless.type_checks import check_type
from regretless.types import Status


@final
class WarmUp(Loss):
    """Use ``first`` for a number of training steps and ``then`` from there on.

    An optimizer that keeps moments of the gradients should start again at the change; ``fit`` clears its state when
    ``phase`` changes.

    Args:
        first: loss of the first steps.
        then: loss after them, with the same oracle and reduction.
        steps: number of steps with ``first``.
    """

    def __init__(self, first: Loss, then: Loss, *, steps: int) -> None:
        for name, given in (("first", first), ("then", then)):
            check_type(name, given, Loss, hint="build it over the problem, such as SPOPlus(problem)")
        super().__init__(then.oracle, reduction=then.reduction)
        if first.oracle is not then.oracle or first.reduction != then.reduction:
            raise InputError("the two losses of a warm-up must have the same oracle and the same reduction")
        self.warm_up_steps = check_integer("steps", steps, least=1)
        self._taken = 0
        # In a tuple, not as submodules: the oracle that they share is saved once, by this loss.
        self._losses = (first, then)

    def extra_repr(self) -> str:
        """Both losses, for ``repr``."""
        first, then = self._losses
        return f"{first!r}, {then!r}, steps={self.warm_up_steps}"

    @property
    def then(self) -> Loss:
        """The loss after the warm-up."""
        return self._losses[1]

    @property
    def phase(self) -> int:
        """0 during the warm-up, 1 after it."""
        return int(self._taken > self.warm_up_steps)

    @property
    def current(self) -> Loss:
        """The loss of the next step; outside of training the second one."""
        return self._losses[int(not self.training or self._taken >= self.warm_up_steps)]

    def check_labels(
        self,
        solution: Tensor,
        instance: Tensor | None = None,
        true: Tensor | None = None,
        status: Sequence[Status] | None = None,
    ) -> None:
        """Check for both losses; see ``Loss.check_labels``."""
        for loss in self._losses:
            loss.check_labels(solution, instance, true, status)

    def forward(
        self,
        predicted: Tensor,
        true: Tensor,
        solution: Tensor,
        instance: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss; see ``Loss.forward``."""
        return self._next()(predicted, true, solution, instance, weight)

    def loss_and_gradient(
        self,
        predicted: Tensor,
        true: Tensor,
        solution: Tensor,
        instance: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Compute loss and gradient; see ``Loss.loss_and_gradient``."""
        return self._next().loss_and_gradient(predicted, true, solution, instance, weight)

    def diagnostics(self) -> dict[str, float]:
        """Figures of the second loss, for the history, without those that exist only after its first step."""
        return {name: value for name, value in self.then.diagnostics().items() if not math.isnan(value)}

    def running_state(self) -> dict[str, Any]:
        """Steps taken, and the state of both losses."""
        return {"taken": self._taken, "losses": [loss.running_state() for loss in self._losses]}

    def load_running_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved running state."""
        self._taken = int(state["taken"])
        for loss, saved in zip(self._losses, state["losses"], strict=True):
            loss.load_running_state(saved)

    def _next(self) -> Loss:
        loss = self.current
        loss.train(self.training)
        self._taken += int(self.training)
        return loss
