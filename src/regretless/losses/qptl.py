"""QPTL: the regret of the relaxation with a quadratic term."""

from __future__ import annotations

from typing import final

from regretless.losses.base import Reduction
from regretless.losses.relaxed import RelaxedRegret
from regretless.oracle import Oracle
from regretless.relaxation import QuadraticProgram


@final
class QPTL(RelaxedRegret):
    r"""Quadratic programming task loss (Wilder, Dilkina and Tambe, *Melding the data-decisions pipeline*, AAAI 2019).

    .. math:: c^\top (G x_\tau(\hat c) - v^*(c)), \qquad
        x_\tau(\hat c) = \arg\min_{x \in P} \hat c^\top G x + \tfrac{\tau}{2} \|x\|^2

    with P the linear relaxation, bounds of the variables included. The gradient goes through the optimality conditions
    of the quadratic program.

    Args:
        oracle: the problem; it needs a MILP.
        tau: weight of the quadratic term, in the units of the costs: the solution is smooth over changes of the costs
            of about ``tau``. If it is much smaller, the gradient is nearly always zero; if it is much
            larger, the solution hardly depends on the costs.
        reduction: over the batch.

    Raises:
        InputError: ``tau`` is not positive, or the problem has no model.
    """

    def __init__(self, oracle: Oracle, *, tau: float = 0.1, reduction: Reduction = "mean") -> None:
        super().__init__(oracle, QuadraticProgram(tau=tau), reduction=reduction)
        self.tau = tau
