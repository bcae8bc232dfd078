"""What every loss shares: one signature, the door of the sign, and the reduction over the batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.problem import Oracle, Problem
from regretless.tensors import Array, as_tensor, like

Reduction = Literal["mean", "sum", "none"]


class Loss(nn.Module, ABC):
    """A loss ``loss(predicted, true, solution, instance=None) -> scalar`` on batches ``(batch, d)``.

    Users speak their own sense; ``forward`` turns costs into minimising ones, with known costs as one more coordinate,
    so that the formula in ``per_instance`` always minimises and never asks.

    Args:
        oracle: answers costs with solutions: a ``Problem`` (exact) or a ``SolutionCache``; ``None`` where none is
            needed.
        reduction: over the batch: ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, oracle: Oracle | None = None, *, reduction: Reduction = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise InputError(f"reduction must be 'mean', 'sum' or 'none', got {reduction!r}")
        self.oracle, self.reduction = oracle, reduction
        self._became_another = False
        self._left_out: Tensor | None = None

    @property
    def problem(self) -> Problem | None:
        """The problem behind the loss, at which a model is evaluated."""
        return None if self.oracle is None else self.oracle.problem

    @abstractmethod
    def per_instance(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Return ``(batch,)`` losses of minimising costs ``(batch, width)``."""

    def forward(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None = None) -> Tensor:
        """Compute the loss.

        Args:
            predicted: ``(batch, d)`` predicted costs, in the user's sense.
            true: ``(batch, d)`` true costs.
            solution: ``(batch, width)`` true optima in cost space, as a ``Dataset`` holds them.
            instance: ``(batch,)`` ids, for families.
        """
        problem = None if self.oracle is None else self.oracle.problem
        self._check(predicted, true, solution, problem)
        if problem is not None:
            predicted, true = problem.to_minimization(predicted), problem.to_minimization(true)
        self._forget()
        losses = self.per_instance(predicted, true, solution, instance)
        if self._left_out is not None:
            losses = losses.masked_fill(self._left_out, 0.0)
        if self.reduction == "none":
            return losses
        if self.reduction == "sum":
            return losses.sum()
        if self._left_out is None:
            return losses.mean()
        return losses.sum() / (~self._left_out).sum().clamp(min=1)

    def with_slope(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None = None
    ) -> tuple[Tensor | float, Tensor | None]:
        """Compute the loss for a training step, which wants nothing but to go on to the model's parameters.

        Returns:
            The loss, and its gradient ``(batch, d)`` at the prediction where that is known without a graph: then the
            loss has none, and the step goes on with ``predicted.backward(slope)``. Else ``None``.
        """
        return self(predicted, true, solution, instance), None

    def became_another(self) -> bool:
        """Whether the formula changed in the last step; true once for each change.

        What an optimiser remembers of earlier gradients is then of another function, and ``fit`` makes it forget.
        """
        if not self._became_another:
            return False
        self._became_another = False
        return True

    def diagnostics(self) -> dict[str, float]:
        """Figures of the last step that belong in the history; computed only when asked for."""
        return {}

    def _forget(self) -> None:
        if self._left_out is not None:  # setting an attribute of a module is dear
            self._left_out = None

    def query(
        self, queries: Sequence[Array], predicted: Array, solution: Array, instance: Tensor | None
    ) -> list[Array]:
        """Ask the oracle at detached costs.

        An instance that the oracle leaves out (``on_failure="skip"``) gets the true optimum as its answer, so that no
        NaN comes near a gradient; its loss is zero and is not counted in the mean.
        """
        assert self.oracle is not None
        costs = [as_tensor(query).detach() for query in queries]
        answers = self.oracle.answer(costs, as_tensor(predicted).detach(), instance)
        if self.oracle.problem.on_failure != "raise":
            left_out = torch.stack([torch.isnan(answer).any(dim=1) for answer in answers]).any(dim=0)
            if left_out.any():
                self._left_out = left_out
                answers = [torch.where(left_out[:, None], as_tensor(solution), answer) for answer in answers]
        return [like(answer, predicted) for answer in answers]

    def grow(self, cache: SolutionCache, query: Array, predicted: Array, instance: Tensor | None) -> None:
        """Flip the cache's coins and grow S, for losses that look at S itself.

        An instance that the cache wants left out (``on_failure="skip"``) has no loss and is not counted in the mean.
        """
        # Where no coin falls heads nobody else looks: without ids a family's S would be read as one feasible set.
        cache.problem.check_instance(instance, len(query))
        _, failed = cache.grow([as_tensor(query)], as_tensor(predicted), instance)
        if failed is not None and cache.problem.on_failure == "skip":
            self._left_out = torch.zeros(len(query), dtype=torch.bool, device=failed.device)
            self._left_out[failed] = True

    def _check(self, predicted: Tensor, true: Tensor, solution: Tensor, problem: Problem | None) -> None:
        if predicted.ndim != 2 or (problem is not None and predicted.shape[1] != problem.dimension):
            d = "d" if problem is None else problem.dimension
            raise InputError(f"predicted must have shape (batch, {d}), got {tuple(predicted.shape)}")
        if true.shape != predicted.shape:
            raise InputError(
                f"true must have the shape of predicted, {tuple(predicted.shape)}, got {tuple(true.shape)}"
            )
        if problem is not None and solution.shape != (wanted := (len(predicted), problem.width)):
            raise InputError(f"solution must have shape {wanted}, got {tuple(solution.shape)}")


def dot(a: Array, b: Array) -> Array:
    """Inner products of the rows: ``(batch, d), (batch, d) -> (batch,)``."""
    product: Array = a * b
    sums: Array = product.sum(1)
    return sums
