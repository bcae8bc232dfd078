"""Interior: the regret of the relaxation with a logarithmic barrier."""

from __future__ import annotations

from typing import final

from regretless.losses.base import Reduction
from regretless.losses.relaxed import RelaxedRegret
from regretless.oracle import Oracle
from regretless.relaxation import BarrierProgram


@final
class Interior(RelaxedRegret):
    r"""Loss of Mandi and Guns, *Interior point solving for LP-based prediction+optimisation*, NeurIPS 2020.

    .. math:: c^\top (G x_\mu(\hat c) - v^*(c)), \qquad
        x_\mu(\hat c) = \arg\min_{x} \hat c^\top G x - \mu \sum_k \log(\text{distance of } x \text{ to bound } k)

    The homogeneous self-dual embedding is followed until its barrier parameter falls under ``cutoff``; a few Newton
    steps then move to the exact point of the central path with :math:`\mu` = ``cutoff``, so that the loss is a smooth
    function of the prediction, and its gradient there is exact with ``damping=0``.

    Args:
        oracle: the problem; it needs a MILP.
        cutoff: barrier parameter at which the path is left, in the units of the costs.
        damping: Tikhonov term on the diagonal of the normal matrix ``A D A'`` in the backward pass.
        reduction: over the batch.

    Raises:
        InputError: ``cutoff`` is not positive, ``damping`` is negative, or the problem has no model.
    """

    def __init__(
        self, oracle: Oracle, *, cutoff: float = 0.1, damping: float = 0.0, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(oracle, BarrierProgram(cutoff=cutoff, damping=damping), reduction=reduction)
        self.cutoff, self.damping = cutoff, damping
