"""Linear programs with few rows: presolve once, interior point for every batch, vertices at the end."""

from __future__ import annotations

import time
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from regretless.errors import SolveError
from regretless.linear_programs.constraint_system import has_huge
from regretless.linear_programs.feasibility import falls, is_feasible, rays
from regretless.linear_programs.interior_point import Iterate, solve_interior
from regretless.linear_programs.presolve import presolve
from regretless.linear_programs.program_answers import Answers, none_of, unsolved
from regretless.linear_programs.self_dual import solve_self_dual
from regretless.linear_programs.standard_form import StandardForm
from regretless.linear_programs.vertex import to_vertex
from regretless.milp import MILP
from regretless.types import Status

# Memory of one part of a batch, in numbers of float64.
MEMORY, MEMORY_GPU = 1 << 25, 1 << 31
# Tensors of the size of the variables that are alive at the same time.
TENSORS = 40


class InteriorSolver:
    """Solves a model without its integrality by ``solve_interior``; see ``ProgramSolver``.

    Raises:
        SolveError: presolve fails although the model is feasible, for reasons of arithmetic.
    """

    def __init__(self, milp: MILP, *, tolerance: float) -> None:
        self.tolerance, self.feasible = tolerance, True
        self._milp, self._loosened = milp, has_huge(milp)
        try:
            system, form = presolve(milp)
        except SolveError:
            # Presolve works with tolerances: HiGHS decides.
            if is_feasible(milp) is not False:
                raise
            self.feasible = False
            return
        # A variable without bounds and rows has no equation: any cost of it makes the program unbounded.
        loose = np.isinf(system.lower) & np.isinf(system.upper) & (system.A == 0).all(axis=0)
        self._loose = torch.as_tensor(system.keep[loose])
        if loose.any():
            start = form.start[: form.n].numpy()[~loose]
            system = system.without_fixed(at_lower=loose)
            form = StandardForm.of(system, start=start)
        self._keep, self._offset = torch.as_tensor(system.keep), torch.as_tensor(system.offset)
        self._forms = {form.A.device: form}

    def solve(self, c: Tensor, *, deadline: float | None = None) -> Answers:
        """Minimize ``c . x``; see ``ProgramSolver``."""
        if not self.feasible:
            return none_of(c, Status.INFEASIBLE)
        form = self._form(c.device)
        keep, x = self._keep.to(c.device), self._offset.to(c.device).repeat(len(c), 1)
        endless = (c[:, self._loose.to(c.device)] != 0).any(dim=1).tolist()
        numbers = TENSORS * len(form.lower) + 4 * len(form.A) ** 2
        part = max(1, (MEMORY_GPU if c.is_cuda else MEMORY) // max(1, numbers))
        status: list[Status] = []
        for first in range(0, len(c), part):
            moved, ends = self._solve(form, c[first : first + part, keep], deadline)
            x[first : first + part, keep] += moved
            status += ends
        status = [Status.UNBOUNDED if moves else end for moves, end in zip(endless, status, strict=True)]
        if Status.UNBOUNDED in status and (self._loosened or rays(self._milp) is None):
            # Without its huge bounds a program may have a ray that the model has not; a bounded model has none at all.
            status = [Status.ERROR if end is Status.UNBOUNDED else end for end in status]
        self._tell_unbounded(c, status, deadline)
        return unsolved(x, status, self.tolerance, late=deadline is not None and time.monotonic() > deadline)

    def _tell_unbounded(self, c: Tensor, status: list[Status], deadline: float | None) -> None:
        """Replace the errors of costs that fall without end along a ray, in place.

        With variables without bounds, the embedding may break down before it has proven that.
        """
        lost = [place for place, end in enumerate(status) if end is Status.ERROR]
        if not lost or self._rays is None or (deadline is not None and time.monotonic() > deadline):
            return
        found = self._rays.solve(c[lost], deadline=deadline)
        for place, endless in zip(lost, falls(c[lost], found.x).tolist(), strict=True):  # false where a ray is NaN
            if endless:
                status[place] = Status.UNBOUNDED

    @cached_property
    def _rays(self) -> InteriorSolver | None:
        """Solver for the best direction to infinity, whose variables are all bounded; ``None`` if there is none."""
        directions = rays(self._milp)
        try:
            return None if directions is None else InteriorSolver(directions, tolerance=self.tolerance)
        except SolveError:
            return None

    def _form(self, device: torch.device) -> StandardForm:
        if device not in self._forms:
            self._forms[device] = self._forms[torch.device("cpu")].to(device)
        return self._forms[device]

    def _solve(self, form: StandardForm, c: Tensor, deadline: float | None) -> tuple[Tensor, list[Status]]:
        if form.n == 0:
            return c, [Status.OPTIMAL] * len(c)
        end, done, scale = solve_interior(form, c, tolerance=self.tolerance, deadline=deadline)
        if bool(done.all()):
            return to_vertex(form, end), [Status.OPTIMAL] * len(c)
        status = [Status.OPTIMAL if ok else Status.ERROR for ok in done.tolist()]
        lost = (~done).nonzero()[:, 0]
        if deadline is None or time.monotonic() <= deadline:
            # The embedding tells programs without an optimum from those that are only difficult.
            point, ends = solve_self_dual(form, c[lost] / scale[lost])
            distance = torch.cat([point.below, point.above], dim=1)
            end.put(lost, Iterate(point.z, point.y, distance, torch.cat([point.low, point.high], dim=1)))
            for place, found in zip(lost.tolist(), ends, strict=True):
                status[place] = found if found in (Status.OPTIMAL, Status.UNBOUNDED) else Status.ERROR
        return to_vertex(form, end), status
