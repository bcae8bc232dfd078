"""SPO+: the convex surrogate of the regret."""

from __future__ import annotations

from collections.abc import Hashable

from torch import Tensor

from regretless.arrays import Numbers, dot
from regretless.losses.closed_form import ClosedFormLoss


class SPOPlus(ClosedFormLoss):
    r"""SPO+ loss (Elmachtoub and Grigas, *Smart "Predict, then Optimize"*, Management Science 2022).

    .. math:: (2 \hat c - c)^\top (v^*(c) - v^*(2 \hat c - c))

    Subgradient: :math:`2 (v^*(c) - v^*(2 \hat c - c))`. It is convex in the prediction and never below the regret.

    Args:
        oracle: a ``Problem`` for SPO+ itself, a ``SolutionCache`` for SPO-caching, a relaxation for SPO-relax.
        reduction: over the batch.
    """

    def operations(self) -> Hashable:
        """See ``ClosedFormLoss.operations``."""
        return () if type(self) is SPOPlus else None

    def takes_arrays(self) -> bool:
        """See ``ClosedFormLoss.takes_arrays``."""
        return type(self) is SPOPlus

    def value_and_gradient(
        self, predicted: Numbers, true: Numbers, solution: Numbers, instance: Tensor | None
    ) -> tuple[Numbers, Numbers]:
        """Losses and subgradients."""
        c = predicted + predicted - true
        (chosen,) = self.query([c], predicted, true, solution, instance)
        lead = solution - chosen
        return dot(c, lead), lead + lead
