"""SPO+: the convex surrogate of the regret."""

from __future__ import annotations

from torch import Tensor

from regretless.losses.base import dot
from regretless.losses.piecewise_linear import PiecewiseLinear
from regretless.tensors import Array


class SPOPlus(PiecewiseLinear):
    r"""SPO+ loss (Elmachtoub and Grigas, *Smart "Predict, then Optimize"*, 2017; the paper's section 3).

    .. math:: (2 \hat c - c)^\top (v^*(c) - v^*(2 \hat c - c))

    Subgradient: :math:`2 (v^*(c) - v^*(2 \hat c - c))`. It is convex in the prediction and never below the regret.

    Args:
        oracle: a ``Problem`` for SPO+ itself, a ``SolutionCache`` for SPO-caching, a relaxation for SPO-relax.
        reduction: over the batch.
    """

    def piece(self, predicted: Array, true: Array, solution: Array, instance: Tensor | None) -> tuple[Array, Array]:
        """Losses ``(batch,)`` and subgradients."""
        c = predicted + predicted - true  # a sum is cheaper than a product with a number
        (chosen,) = self.query([c], predicted, solution, instance)
        lead = solution - chosen
        return dot(c, lead), lead + lead
