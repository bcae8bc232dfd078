"""What every loss shares: one signature, the sign of the costs, and the reduction over the batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn

from regretless.arrays import Numbers
from regretless.cache import SolutionCache
from regretless.cache.lookup import Objective
from regretless.cache.served_instances import check_instance
from regretless.errors import InputError
from regretless.losses.label_check import LabelCheck
from regretless.losses.loss_checks import needs_oracle
from regretless.oracle import Oracle
from regretless.problem import Problem
from regretless.tensors import in_dtype, tensor
from regretless.types import Status

Reduction = Literal["mean", "sum", "none"]


class Loss(nn.Module, ABC):
    r"""A loss ``loss(predicted, true, solution, instance=None, weight=None) -> scalar`` on batches ``(batch, d)``.

    Notation of the formulas: :math:`\hat c` (``c_hat``) predicted costs, :math:`c` true costs, :math:`v^*(c)` an
    optimal solution at the costs c, :math:`v^*` alone the true optimum, :math:`f(v, c) = c^\top v` the objective, and S
    the solutions in the cache.

    Costs come in the user's sense. The base class turns them into minimizing costs, with known costs as one more
    coordinate, so that every formula minimizes. The formula is computed in the precision of the prediction (in single
    precision for half-precision predictions), whatever the precision of the other arguments is.

    A loss holds the state of its last step, so that every thread needs one of its own; they may share a cache.

    A loss is a ``ClosedFormLoss`` (its formula returns values and gradients) or an ``AutogradLoss`` (its formula
    returns values with a graph).

    Args:
        oracle: answers costs with solutions: a ``Problem`` (exact) or a ``SolutionCache``; ``None`` where the loss
            needs none.
        reduction: over the batch: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    objective: Objective | None = None  # of a loss for an objective that is not linear

    def __init__(self, oracle: Oracle | None = None, *, reduction: Reduction = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise InputError(f"reduction must be 'mean', 'sum' or 'none', got {reduction!r}")
        self.oracle = None if oracle is None else needs_oracle(type(self).__name__, oracle)
        self.reduction = reduction
        self._decides = isinstance(oracle, Problem | SolutionCache)  # a relaxation may beat the best decision
        self._left_out: Tensor | None = None
        self._labels = LabelCheck()

    @property
    def problem(self) -> Problem | None:
        """The problem behind the loss, at which a model is evaluated."""
        return None if self.oracle is None else self.oracle.problem

    @property
    def phase(self) -> int:
        """Number of the formula in use; ``fit`` clears the state of the optimizer when it changes (see ``WarmUp``)."""
        return 0

    if TYPE_CHECKING:  # torch declares that a module takes and returns anything

        def __call__(
            self, predicted: Tensor, true: Any, solution: Any, instance: Any = None, weight: Any = None
        ) -> Tensor:
            """Compute the loss; see ``forward``."""

    @abstractmethod
    def forward(
        self,
        predicted: Tensor,
        true: Tensor,
        solution: Tensor,
        instance: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss.

        Args:
            predicted: ``(batch, d)`` predicted costs, in the user's sense.
            true: ``(batch, d)`` true costs: a tensor, an array or a nested list.
            solution: ``(batch, width)`` true optima in cost space, as a ``Dataset`` holds them.
            instance: ``(batch,)`` ids, for families: a tensor, or a list as ``Family.add`` returns it.
            weight: ``(batch,)`` factors of the losses of the instances. A mean still divides by their number: with
                weights in units of their mean over the training data, it is the weighted mean.
        """

    @abstractmethod
    def loss_and_gradient(
        self,
        predicted: Tensor,
        true: Tensor,
        solution: Tensor,
        instance: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Compute the loss and its gradient ``(batch, d)`` at the prediction, both without a graph.

        A training step continues with ``predicted.backward(gradient)``.
        """

    def extra_repr(self) -> str:
        """The oracle and the settings, for ``repr``."""
        settings = [f"{name}={value!r}" for name, value in plain_settings(self).items() if name != "oracle"]
        return ", ".join(settings if self.problem is None else [repr(self.oracle or self.problem), *settings])

    def diagnostics(self) -> dict[str, float]:
        """Figures of the last step for the history, computed on request."""
        return {}

    def running_state(self) -> dict[str, Any]:
        """Counters and generators of the loss, for checkpoints; the cache is saved beside it."""
        return {}

    def load_running_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved running state."""

    def get_extra_state(self) -> dict[str, Any]:
        """The part of ``state_dict()`` that is no tensor: the cache with its coin, and counters of the loss."""
        cache = self.oracle.state_dict() if isinstance(self.oracle, SolutionCache) else None
        return {"cache": cache, "running": self.running_state()}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved state; called by ``load_state_dict()``."""
        if (state["cache"] is not None) != isinstance(self.oracle, SolutionCache):
            saved, has = ("without", "one") if state["cache"] is None else ("with", "none")
            raise InputError(f"the state was saved {saved} a cache, and this loss has {has}: give it the same oracle")
        if isinstance(self.oracle, SolutionCache):
            self.oracle.load_state_dict(state["cache"])
        self.load_running_state(state["running"])

    def query(
        self, queries: Sequence[Tensor], predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> list[Tensor]:
        """Solutions of the oracle at detached costs, one ``(batch, width)`` tensor per query.

        A solution that is better than the label at the true costs is an error: a label is optimal by definition.

        For an instance that the oracle leaves out (``on_failure="skip"``) the true optimum is returned, so that no NaN
        reaches a gradient. Its loss is zero and does not count in the mean.
        """
        assert self.oracle is not None
        answers = self._answers(queries, predicted, instance)
        if self.oracle.problem.on_failure != "raise":
            left_out = torch.stack([torch.isnan(answer).any(dim=1) for answer in answers]).any(dim=0)
            if bool(left_out.any()):
                self._left_out = left_out if self._left_out is None else self._left_out | left_out
                answers = [torch.where(left_out[:, None], solution.to(answer), answer) for answer in answers]
        answers = [in_dtype(answer, predicted.dtype) for answer in answers]
        self._note(answers, true, solution, instance)
        return answers

    def _note(self, answers: Sequence[Numbers], true: Numbers, solution: Numbers, instance: Tensor | None) -> None:
        if self._decides and self.oracle is not None:
            self._labels.note(answers, true, solution, instance, self.oracle.problem)

    def _answers(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None) -> list[Tensor]:
        assert self.oracle is not None
        return self.oracle.answer([query.detach() for query in queries], predicted.detach(), instance)

    def one_coin(self) -> AbstractContextManager[None]:
        """One side of the coin for all queries inside of the block; see ``SolutionCache.one_coin``."""
        return self.oracle.one_coin() if isinstance(self.oracle, SolutionCache) else nullcontext()

    def grow(self, cache: SolutionCache, query: Tensor, predicted: Tensor, instance: Tensor | None) -> None:
        """Flip the cache's coins and grow S, for losses that use S itself.

        An instance that the cache leaves out (``on_failure="skip"``) has no loss and does not count in the mean.
        Members that have joined a family are known afterwards.
        """
        # A step without a solve checks no ids, and without ids the S of a family would be read as one feasible set.
        if instance is not None or cache.problem.is_family:
            with cache.lock:  # new members of a family join the store
                check_instance(cache.problem, cache.store, instance, len(query))
        failed = cache.grow([query], predicted, instance)
        if len(cache) == 0:
            raise InputError("the cache is empty: add solutions first, for example cache.add(train.solutions)")
        with cache.lock:
            cache.store.to(predicted.device)
        if failed is not None and cache.problem.on_failure == "skip":
            self._left_out = torch.zeros(len(query), dtype=torch.bool, device=failed.device)
            self._left_out[failed] = True

    def check_labels(
        self,
        solution: Tensor,
        instance: Tensor | None = None,
        true: Tensor | None = None,
        status: Sequence[Status] | None = None,
    ) -> None:
        """Refuse true optima that cannot be optimal; without this call, those of the first batch are checked.

        Args:
            solution: ``(n, width)`` true optima.
            instance: ``(n,)`` ids, for families.
            true: ``(n, d)`` true costs, at which up to 128 of the optima are compared with each other.
            status: how the solve of each of them ended; all optimal when ``None``.

        Raises:
            InputError: a row is infeasible for the model.
            SolveError: another row is better at the true costs of a row, so the sense or the order of rows is wrong.
        """
        if self.oracle is None:
            return
        self._labels.refuse_infeasible(solution, instance, self.oracle.problem)
        if true is not None and self.objective is None:
            self._labels.refuse_beaten(true, solution, instance, self.oracle.problem, status)

    def _checked(self, predicted: Tensor, true: Any, solution: Any, instance: Tensor | None) -> tuple[Tensor, Tensor]:
        """Check shapes and types, and return true costs and solutions as tensors."""
        problem = None if self.oracle is None else self.oracle.problem
        if not isinstance(true, Tensor):
            true = tensor("true", true).to(predicted)
        if not isinstance(solution, Tensor):
            solution = tensor("solution", solution).to(predicted)
        shape = predicted.shape
        if len(shape) != 2 or (problem is not None and shape[1] != problem.dimension):
            d = "d" if problem is None else problem.dimension
            raise InputError(f"predicted must have shape (batch, {d}), got {tuple(shape)}")
        if not predicted.is_floating_point():
            raise InputError(f"predicted must be floating-point numbers, got {predicted.dtype}")
        if true.shape != shape:
            raise InputError(f"true must have the shape of predicted, {tuple(shape)}, got {tuple(true.shape)}")
        if problem is not None and solution.shape != (expected := (shape[0], problem.width)):
            raise InputError(f"solution must have shape {expected}, got {tuple(solution.shape)}")
        if not self._labels.known and len(solution):
            self.check_labels(solution, instance, true)
        return true, solution

    def _minimizing(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Check the arguments and return minimizing costs and solutions in one precision; forget the last step."""
        predicted, true, solution = self._begun(predicted, true, solution, instance)
        if self.oracle is None:
            return predicted, true, solution
        problem = self.oracle.problem
        return problem.to_minimization(predicted, instance), problem.to_minimization(true, instance), solution

    def _begun(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Check the arguments and return them in one precision; forget the last step."""
        true, solution = self._checked(predicted, true, solution, instance)
        if self._left_out is not None:  # a module sets attributes slowly
            self._left_out = None
        self._labels.begin(true)
        if predicted.dtype in (torch.float16, torch.bfloat16):
            predicted = predicted.to(torch.float32)
        return predicted, in_dtype(true, predicted.dtype), in_dtype(solution, predicted.dtype)

    def _factors(self, weight: Tensor | None, predicted: Tensor) -> Tensor | None:
        """Weights in the precision of the loss; those that are not one per instance are refused."""
        if weight is None:
            return None
        weight = weight if isinstance(weight, Tensor) else tensor("weight", weight)
        if weight.shape != predicted.shape[:1]:
            raise InputError(f"weight must have shape ({len(predicted)},), got {tuple(weight.shape)}")
        return weight.to(predicted)

    def _instances(self, batch: int) -> int:
        """Number of instances that count in the mean; 1 where there is none, so that the loss is 0."""
        return max(batch if self._left_out is None else batch - int(self._left_out.sum()), 1)


def plain_settings(loss: Loss) -> dict[str, Any]:
    """Settings of a loss that are numbers or text, by name."""
    return {
        name: value
        for name, value in sorted(vars(loss).items())
        if not name.startswith("_") and name != "training" and isinstance(value, str | int | float | None)
    }
