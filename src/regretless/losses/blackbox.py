"""Blackbox differentiation of the regret."""

from __future__ import annotations

from torch import Tensor

from regretless.errors import InputError
from regretless.losses.base import Reduction, dot
from regretless.losses.piecewise_linear import PiecewiseLinear
from regretless.problem import Oracle
from regretless.tensors import Array


class Blackbox(PiecewiseLinear):
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
        if not lambda_ > 0:
            raise InputError(f"lambda_ must be positive, got {lambda_}")
        self.lambda_ = float(lambda_)

    def piece(self, predicted: Array, true: Array, solution: Array, instance: Tensor | None) -> tuple[Array, Array]:
        """Regrets ``(batch,)`` and interpolated gradients."""
        perturbed = predicted + self.lambda_ * true
        here, there = self.query([predicted, perturbed], predicted, solution, instance)
        # The zero is NaN where a prediction is no number, which a regret alone would not show.
        regret = dot(true, here - solution) + 0.0 * predicted.sum(1)
        return regret, (there - here) / self.lambda_
