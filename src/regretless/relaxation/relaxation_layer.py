"""The relaxation as a layer: from costs to a smoothed solution, with gradients by the implicit function theorem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from scipy import sparse
from torch import Tensor
from torch.autograd.function import once_differentiable

from regretless.errors import InputError
from regretless.family import member
from regretless.linear_programs.normal_equations import NormalEquations
from regretless.linear_programs.presolve import presolve
from regretless.linear_programs.standard_form import StandardForm
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.relaxation.smoothed_programs import Program, Smooth
from regretless.solvers.batch_answers import sparse_or_dense
from regretless.solvers.checked_solve import check_finite, refuse_failures
from regretless.tensors import lasting_tensors
from regretless.types import Solved, Status

# Largest number of entries of a cost map that is kept dense.
DENSE = 1_000_000


class _Minimizer(torch.autograd.Function):
    """``x(c)`` of a smoothed relaxation.

    At the minimum ``c + grad phi(z) = E' y`` and ``E z = b``. The derivative of both is ``H dz - E' dy = -dc``,
    ``E dz = 0``. Its matrix is symmetric, so the backward pass is one solve with the incoming gradient.
    """

    @staticmethod
    def forward(ctx: Any, c: Tensor, form: StandardForm, program: Program, report: list[Smooth]) -> Tensor:
        solved = program.solve(form, c)
        report.append(solved)
        ctx.form, ctx.damping = form, program.damping
        ctx.save_for_backward(solved.H)
        return solved.x

    @staticmethod
    @once_differentiable  # type: ignore[misc, no-untyped-call, untyped-decorator, unused-ignore]
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        (H,) = ctx.saved_tensors
        n = ctx.form.n
        right = torch.cat([-gradient, gradient.new_zeros(len(gradient), H.shape[1] - n)], dim=1)
        dz, _ = NormalEquations(ctx.form, H, damping=ctx.damping).solve(right)
        return dz[:, :n], None, None, None


@dataclass(frozen=True)
class _Member:
    """One linear program after presolve, with the maps between its variables and the cost space."""

    form: StandardForm
    forward: Tensor  # (kept, width), from costs to the objective; sparse where it is large
    back: Tensor  # (width, kept), from decisions to cost space
    constant: Tensor

    @classmethod
    def of(cls, milp: MILP) -> _Member:
        system, form = presolve(milp)
        full = sparse.eye_array(milp.n, format="csr") if milp.cost_map is None else milp.cost_map
        if milp.has_fixed_cost:
            full = sparse.vstack([full, sparse.csr_array(milp.fixed_cost[None])], format="csr")
        kept = full[:, system.keep]
        if kept.shape[0] * kept.shape[1] <= DENSE:
            kept = kept.toarray()
            forward, back = torch.as_tensor(kept.T.copy()), torch.as_tensor(kept)
        else:
            forward, back = sparse_or_dense(kept.T), sparse_or_dense(kept)
        return cls(form, forward, back, torch.as_tensor(milp.solution(system.offset)[0]))

    def to(self, device: torch.device) -> _Member:
        return _Member(self.form.to(device), *(part.to(device) for part in (self.forward, self.back, self.constant)))

    def __call__(self, costs: Tensor, program: Program) -> tuple[Tensor, Smooth | None]:
        """Map minimization costs ``(batch, width)`` in float64 to smoothed solutions ``(batch, width)``."""
        c = (self.forward @ costs.T).T
        if self.form.n == 0:
            return self.constant + c.sum(dim=1, keepdim=True), None
        report: list[Smooth] = []
        x = _Minimizer.apply(c, self.form, program, report)  # type: ignore[no-untyped-call]
        return (self.back @ x.T).T + self.constant, report[0]


class Relaxation:
    """The smoothed linear relaxation of a problem, from cost space to cost space.

    Presolve runs once per linear program, at its first use. All arithmetic is float64, on the device of the costs.

    Args:
        problem: a problem with a MILP or a family of MILPs.
        program: the smoothing: ``QuadraticProgram`` or ``BarrierProgram``.

    Raises:
        InputError: the problem has no model.

    >>> from regretless.relaxation import QuadraticProgram
    >>> problem = Problem(MILP([[1.0, 1.0]], row_upper=1.0))
    >>> Relaxation(problem, QuadraticProgram(tau=1.0))(torch.tensor([[-1.0, -0.5]])).round(decimals=4).tolist()
    [[0.75, 0.25]]
    """

    def __init__(self, problem: Problem, program: Program) -> None:
        if problem.model is None:
            raise InputError(
                "the linear relaxation needs the constraints: this problem has a solver but no model. "
                "Use Problem(model=MILP(...)), or a loss that needs only the solver, such as SPOPlus"
            )
        self.problem, self.program, self.model = problem, program, problem.model
        self._members: dict[tuple[int, torch.device], _Member] = {}

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Solve the smoothed relaxation.

        Args:
            costs: ``(batch, width)`` minimization costs.
            instance: ``(batch,)`` ids, for families.

        Returns:
            ``(batch, width)`` solutions in cost space, differentiable once; rows of NaN for instances that failed,
            unless the problem has ``on_failure="raise"``.

        Raises:
            InputError: costs of the wrong shape or not finite, or an unknown instance.
            SolveError: the relaxation is infeasible or, at these costs, unbounded.
        """
        self.problem.check_costs(costs)
        check_finite(costs.detach())
        self.problem.check_instance(instance, len(costs))
        inner = costs.to(torch.float64)
        ids = torch.zeros(len(costs), dtype=torch.int64) if instance is None else instance.cpu()
        parts, blocks = [], [inner[:0]]
        for i in torch.unique(ids).tolist():
            rows = (ids == i).nonzero()[:, 0]
            block, smooth = self._member(i, costs.device)(inner[rows.to(costs.device)], self.program)
            blocks.append(block)
            parts.append((rows, smooth))
        order = torch.cat([ids[:0], *(rows for rows, _ in parts)]).argsort().to(costs.device)
        solution = torch.cat(blocks)[order]
        self._report(solution, parts, instance)
        return solution.to(costs.dtype)

    @lasting_tensors()
    def _member(self, i: int, device: torch.device) -> _Member:
        home = torch.device("cpu")
        if (i, home) not in self._members:
            self._members[i, home] = _Member.of(member(self.model, i))
        if (i, device) not in self._members:
            self._members[i, device] = self._members[i, home].to(device)
        return self._members[i, device]

    def _report(self, solution: Tensor, parts: list[tuple[Tensor, Smooth | None]], instance: Tensor | None) -> None:
        """Raise for instances that failed, if ``on_failure="raise"``."""
        status, message = [Status.OPTIMAL] * len(solution), {}
        for rows, smooth in parts:
            if smooth is not None and smooth.status is not None:
                for place, (row, end) in enumerate(zip(rows.tolist(), smooth.status, strict=True)):
                    status[row] = end
                    if place in smooth.message:
                        message[row] = smooth.message[place]
        if self.problem.on_failure == "raise" and any(end is not Status.OPTIMAL for end in status):
            refuse_failures(Solved(solution.detach(), status, message=message), instance)
