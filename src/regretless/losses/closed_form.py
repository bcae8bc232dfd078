"""Losses whose formula gives values and gradients."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from regretless.arrays import MOST, Numbers, as_array, as_tensor, like, mean, times
from regretless.cache import SolutionCache
from regretless.cache.frozen_lookup import FrozenLookup
from regretless.losses.base import Loss, Reduction
from regretless.losses.loss_checks import needs_oracle, needs_tensor, refuse_result
from regretless.losses.step_graphs import Step, StepGraphs, captured_on
from regretless.oracle import Oracle
from regretless.tensors import ids, in_dtype, no_autocast, with_gradient, without_graph


class ClosedFormLoss(Loss):
    """A loss whose formula gives value and gradient per instance, so that it is one node for autograd.

    Args:
        oracle: answers costs with solutions: a ``Problem`` (exact) or a ``SolutionCache``.
        reduction: over the batch: ``"mean"``, ``"sum"`` or ``"none"``.

    Raises:
        InputError: no oracle.
    """

    def __init__(self, oracle: Oracle | None = None, *, reduction: Reduction = "mean") -> None:
        super().__init__(needs_oracle(type(self).__name__, oracle), reduction=reduction)
        self._graphs = StepGraphs(self._labels)
        self._frozen: FrozenLookup | None = None  # while a step is captured

    @abstractmethod
    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Values ``(batch,)`` and gradients ``(batch, width)`` at minimizing costs ``(batch, width)``.

        Called without gradients; both results must be tensors of their own.
        """

    def takes_arrays(self) -> bool:
        """Whether the formula takes NumPy's arrays in place of tensors, too; see ``regretless.arrays``.

        Such a formula consists of operators, of ``query`` and of what that module has. As with ``operations``, the
        losses of this library return ``False`` for subclasses.
        """
        return False

    def operations(self) -> Hashable:
        """What decides, beside the shapes of a batch, which operations the formula launches; ``None`` if more does.

        Steps with equal operations are captured as one CUDA graph. Such a formula takes its solutions from ``query``,
        reads no number from the GPU and draws none at random. Settings of the loss are part of the result. The losses
        of this library return ``None`` for subclasses, whose formula may do more.
        """
        return None

    def forward(
        self,
        predicted: Tensor,
        true: Tensor,
        solution: Tensor,
        instance: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss; see ``Loss.forward``."""
        value, gradient = self.loss_and_gradient(predicted, true, solution, instance, weight)
        return with_gradient(predicted, value, gradient)

    @without_graph
    def loss_and_gradient(
        self,
        predicted: Tensor,
        true: Tensor,
        solution: Tensor,
        instance: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Compute loss and gradient; see ``Loss.loss_and_gradient``."""
        if instance is not None:
            instance = ids(instance)
        predicted = needs_tensor(predicted).detach()
        captured = weight is None and captured_on(predicted)
        result = self._from_graph(predicted, true, solution, instance) if captured else None
        if result is None:
            result = self._computed(predicted, true, solution, instance, weight)
        self._labels.finish()
        return result

    def _computed(
        self,
        predicted: Tensor,
        true: Tensor,
        solution: Tensor,
        instance: Tensor | None,
        weight: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Loss and gradient, before the answers are compared with the labels."""
        c_hat, c, v = self._begun(predicted, true, solution, instance)
        factors = None if weight is None else self._factors(weight, c_hat)
        with no_autocast(predicted.device.type):
            if instance is None and self._with_arrays(c_hat, c, v):
                of_arrays = None if factors is None else as_array(factors)
                number, array = self._by_formula(c_hat.numpy(), c.numpy(), v.numpy(), None, of_arrays)
                value, gradient = as_tensor(number), torch.from_numpy(array)
            else:
                value, gradient = self._by_formula(c_hat, c, v, instance, factors)
        return value, in_dtype(gradient, predicted.dtype)

    def _with_arrays(self, predicted: Tensor, true: Tensor, solution: Tensor) -> bool:
        """Whether the formula of this step is computed with arrays."""
        assert self.oracle is not None
        if not self.takes_arrays() or not predicted.is_cpu or predicted.numel() > MOST or self._frozen is not None:
            return False
        return self.oracle.problem.on_failure == "raise" and not (true.requires_grad or solution.requires_grad)

    def _by_formula(
        self, predicted: Numbers, true: Numbers, solution: Numbers, instance: Tensor | None, factors: Numbers | None
    ) -> tuple[Numbers, Numbers]:
        """Loss and gradient at costs in the user's sense."""
        assert self.oracle is not None
        problem, formula = self.oracle.problem, cast(Any, self.value_and_gradient)  # some take arrays, too
        c_hat = problem.to_minimization(predicted, instance)
        found = formula(c_hat, problem.to_minimization(true, instance), solution, instance)
        value: Numbers
        gradient: Numbers
        try:
            value, gradient = found
        except (TypeError, ValueError):
            refuse_result(self, "value_and_gradient", c_hat, found)
        same = isinstance(value, type(solution)) and isinstance(gradient, type(solution))
        if not same or value.shape != c_hat.shape[:1] or gradient.shape != c_hat.shape:
            refuse_result(self, "value_and_gradient", c_hat, found)
        if self._left_out is not None:
            value[self._left_out], gradient[self._left_out] = 0.0, 0.0
        if factors is not None:
            value, gradient = factors * value, factors[:, None] * gradient
        if gradient.shape[1] > predicted.shape[1]:  # known costs are not predicted
            gradient = gradient[:, : predicted.shape[1]]
        factor = problem.sign
        if self.reduction == "sum":
            value = value.sum()
        elif self.reduction == "mean":
            count = self._instances(predicted.shape[0])
            value = mean(value) if count == value.shape[0] else value.sum() / count
            factor /= count
        return value, times(gradient, factor)

    def _from_graph(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor] | None:
        """Loss and gradient by a CUDA graph, after the solves of the step; ``None`` where it cannot be captured."""
        operations, cache = self.operations(), self.oracle
        if operations is None or instance is not None or not isinstance(cache, SolutionCache):
            return None
        if predicted.dtype not in (torch.float32, torch.float64) or cache.frozen_lookup(predicted) is None:
            return None
        true, solution = self._checked(predicted, true, solution, instance)
        with cache.one_coin():  # after the solves, everything is looked up in the S of that moment
            costs = cache.problem.to_minimization(predicted)
            cache.grow([costs], costs)
            lookup = cache.frozen_lookup(predicted)
            if lookup is None:  # S has become too large
                return self._computed(predicted, true, solution, None)
            key = (operations, self.reduction, id(lookup.columns), bool(cache.problem.statistics.not_optimal))
            step = self._graphs.run(key, (predicted, true, solution), partial(self._frozen_step, lookup), held=lookup)
        cache.count_lookups(step.lookups)
        return step.value, step.gradient

    def _frozen_step(self, lookup: FrozenLookup, predicted: Tensor, true: Tensor, solution: Tensor) -> Step:
        lookup.count, self._frozen = 0, lookup
        try:
            value, gradient = self._computed(predicted, true, solution, None)
        finally:
            self._frozen = None
        return Step(value, gradient, lookup.count)

    def query(
        self, queries: Sequence[Numbers], predicted: Numbers, true: Numbers, solution: Numbers, instance: Tensor | None
    ) -> list[Numbers]:
        """Solutions of the oracle; see ``Loss.query``."""
        if not isinstance(predicted, np.ndarray):
            return super().query(queries, predicted, true, solution, instance)
        assert self.oracle is not None
        found = self.oracle.answer_arrays(queries, predicted) if isinstance(self.oracle, SolutionCache) else None
        if found is None:
            costs = [torch.from_numpy(query) for query in queries]
            found = [like(predicted, answer) for answer in self.oracle.answer(costs, torch.from_numpy(predicted))]
        self._note(found, true, solution, None)
        return found

    def _answers(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None) -> list[Tensor]:
        assert self.oracle is not None
        if self._frozen is not None:
            return self._frozen(queries)
        return self.oracle.answer(queries, predicted, instance)  # computed without a graph
