"""Blackbox differentiation of the regret."""

from __future__ import annotations

from collections.abc import Hashable

from torch import Tensor

from regretless.arrays import Numbers, dot, times
from regretless.losses.base import Reduction
from regretless.losses.closed_form import ClosedFormLoss
from regretless.number_checks import check_number
from regretless.oracle import Oracle


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

    def takes_arrays(self) -> bool:
        """See ``ClosedFormLoss.takes_arrays``."""
        return type(self) is Blackbox

    def value_and_gradient(
        self, predicted: Numbers, true: Numbers, solution: Numbers, instance: Tensor | None
    ) -> tuple[Numbers, Numbers]:
        """Regrets and interpolated gradients."""
        perturbed = predicted + times(true, self.lambda_)
        here, there = self.query([predicted, perturbed], predicted, true, solution, instance)
        # The true costs, or NaN where a prediction is NaN: the regret alone would not show it.
        shown = true + 0.0 * predicted
        return dot(shown, here - solution), (there - here) / self.lambda_
