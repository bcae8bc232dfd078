"""The two smoothed relaxations: with a quadratic term, and with a logarithmic barrier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.linear_programs.central_path import Point, follow_path
from regretless.linear_programs.self_dual import solve_self_dual
from regretless.linear_programs.standard_form import StandardForm
from regretless.number_checks import check_number
from regretless.types import Status


@dataclass(frozen=True)
class Smooth:
    """Solutions of a smoothed relaxation.

    Attributes:
        x: ``(batch, n)``; NaN if there is no solution.
        H: ``(batch, n + slacks)`` curvature of the smoothed objective at the solution, a diagonal.
        status: one status per instance, or ``None`` if all are optimal.
        message: reason of a failure, by position in the batch.
    """

    x: Tensor
    H: Tensor
    status: list[Status] | None
    message: dict[int, str]


class Program(Protocol):
    """A smoothed relaxation: its minimizer is a differentiable function of the costs."""

    @property
    def damping(self) -> float:
        """The term that the backward pass adds to the diagonal of the normal matrix."""

    def solve(self, form: StandardForm, c: Tensor) -> Smooth:
        """Solve for costs ``(batch, n)``."""


@dataclass(frozen=True)
class QuadraticProgram:
    """``min c . x + tau / 2 |x|^2`` over the relaxation."""

    tau: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        try:
            check_number("tau", self.tau)
        except InputError as error:
            raise InputError(
                f"{error}: without a quadratic term the solution is a corner of the relaxation, whose gradient is zero"
            ) from None

    def solve(self, form: StandardForm, c: Tensor) -> Smooth:
        """Solve the quadratic programs by path following."""
        # |origin + x|^2 is |x|^2 with another linear term and a constant.
        point, done = follow_path(form, c + self.tau * form.origin, self.tau, 0.0)
        H = point.curvature()
        H[:, : form.n] += self.tau
        return _smooth(form, point, H, done, [Status.OPTIMAL] * len(c), "the quadratic program did not converge")


@dataclass(frozen=True)
class BarrierProgram:
    """``min c . x - cutoff * sum of log(distances to the bounds of rows and variables)`` over the relaxation."""

    cutoff: float
    damping: float = 0.0

    def __post_init__(self) -> None:
        check_number("cutoff", self.cutoff)
        check_number("damping", self.damping, least=0.0)

    def solve(self, form: StandardForm, c: Tensor) -> Smooth:
        """Follow the embedding down to the cutoff, then move to the exact point of the central path there."""
        start, status = solve_self_dual(form, c, cutoff=self.cutoff)
        point, done = follow_path(form, c, 0.0, self.cutoff, start)
        if not bool(done.all()):
            # No minimum at the cutoff: only the end of the path shows whether the costs have an optimum at all.
            lost = (~done).nonzero()[:, 0]
            for row, end in zip(lost.tolist(), solve_self_dual(form, c[lost])[1], strict=True):
                status[row] = end
        text = "the barrier has no minimum: use finite bounds for every variable and a cutoff above 1e-12 of the costs"
        return _smooth(form, point, point.curvature(), done, status, text)


def _smooth(form: StandardForm, point: Point, H: Tensor, done: Tensor, status: list[Status], text: str) -> Smooth:
    """Return the solutions of the points, with NaN and a status for the failures."""
    proven = [s in (Status.UNBOUNDED, Status.INFEASIBLE) for s in status]
    good = done & ~torch.tensor(proven, dtype=torch.bool, device=done.device)
    x = point.z[:, : form.n]
    if bool(good.all()):
        return Smooth(x, H, None, {})
    ends = [
        Status.OPTIMAL if ok else (end if known else Status.ERROR)
        for ok, end, known in zip(good.tolist(), status, proven, strict=True)
    ]
    message = {i: text for i, end in enumerate(ends) if end is Status.ERROR}
    message |= {i: "the relaxation has no optimum at these costs." for i, known in enumerate(proven) if known}
    return Smooth(torch.where(good[:, None], x, torch.nan), torch.where(good[:, None], H, 1.0), ends, message)
