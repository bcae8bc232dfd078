"""Blackbox differentiation of the regret."""

from __future__ import annotations

from collections.abc import Hashable

import torch
from torch import Tensor

from regretless.losses.base import Reduction, dot
from regretless.losses.closed_form import ClosedFormLoss
from regretless.number_checks import check_number
from regretless.oracle import Oracle
from regretless.tensors import scalar


class Blackbox(ClosedFormLoss):
    r"""Regret, with the gradient of a piecewise linear interpolation of the solver (Vlastelica et al. 2020).

    The value is the regret :math:`c^\top (v(\hat c) - v^*(c))`, the gradient

    .. math:: \frac{1}{\lambda} \big( v(\hat c + \lambda c) - v(\hat c) \big)

    Both solutions of an instance come from the same side of the cache's coin.

    Args:
        oracle: a ``Problem`` for Blackbox itself, a ``SolutionCache`` for Blackbox-caching.
        lambda_: width of the interpolation, on the scale of predicted over true costs.
        reduction: over the batch.
    """

    def __init__(self, oracle: Oracle, *, lambda_: float = 1.0, reduction: Reduction = "mean") -> None:
        super().__init__(oracle, reduction=reduction)
        self.lambda_ = check_number("lambda_", lambda_)

    def operations(self) -> Hashable:
        """See ``ClosedFormLoss.operations``."""
        return self.lambda_ if type(self) is Blackbox else None

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Regrets and interpolated gradients."""
        width = scalar(self.lambda_, true)
        perturbed = predicted + width * true
        here, there = self.query([predicted, perturbed], predicted, true, solution, instance)
        # The true costs, or NaN where a prediction is NaN: the regret alone would not show it.
        shown = torch.add(true, predicted, alpha=0.0)
        return dot(shown, here - solution), (there - here) / width
