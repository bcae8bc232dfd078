"""Linear programs with many sparse rows, by the first-order method."""

from __future__ import annotations

import time

import torch
from torch import Tensor

from regretless.linear_programs.feasibility import falls, is_feasible, rays
from regretless.linear_programs.first_order import ITERATIONS, solve_first_order
from regretless.linear_programs.program_answers import Answers, none_of, unsolved
from regretless.linear_programs.scaled_rows import ScaledRows
from regretless.milp import MILP
from regretless.types import Status

# Programs that have not converged by then are checked for rays along which the objective falls without end.
PATIENCE = 1_000
MEMORY, MEMORY_GPU = 1 << 25, 1 << 31
TENSORS = 12


class FirstOrderSolver:
    """Solves a model without its integrality by ``solve_first_order``; see ``ProgramSolver``.

    The feasible set is the same for all costs, so HiGHS decides once whether it is empty. Its directions to infinity
    are a linear program in a box: where a solve does not converge, it tells an unbounded program from a difficult one.
    """

    def __init__(self, milp: MILP, *, tolerance: float) -> None:
        self.tolerance = tolerance
        self.feasible = is_feasible(milp)
        self._rows = {torch.device("cpu"): ScaledRows.of(milp)}
        directions = rays(milp)
        self._rays = None if directions is None else {torch.device("cpu"): ScaledRows.of(directions)}

    def solve(self, c: Tensor, *, deadline: float | None = None) -> Answers:
        """Minimize ``c . x``; see ``ProgramSolver``."""
        if self.feasible is False:
            return none_of(c, Status.INFEASIBLE)
        rows = _there(self._rows, c.device)
        numbers = TENSORS * (c.shape[1] + len(rows.row))
        part = max(1, (MEMORY_GPU if c.is_cuda else MEMORY) // numbers)
        x, status = [], []
        for some in torch.split(c, part):
            points, ends = self._solve(rows, some, deadline)
            x.append(points)
            status += ends
        late = deadline is not None and time.monotonic() > deadline
        return unsolved(torch.cat(x) if x else torch.empty_like(c), status, self.tolerance, late=late)

    def _solve(self, rows: ScaledRows, c: Tensor, deadline: float | None) -> tuple[Tensor, list[Status]]:
        first = ITERATIONS if self._rays is None else PATIENCE
        x, done = solve_first_order(rows, c, tolerance=self.tolerance, iterations=first, deadline=deadline)
        status = [Status.OPTIMAL if ok else Status.ERROR for ok in done.tolist()]
        if self._rays is None or bool(done.all()) or (deadline is not None and time.monotonic() > deadline):
            return x, status
        lost = (~done).nonzero()[:, 0]
        on_device = _there(self._rays, c.device)
        ray, settled = solve_first_order(on_device, c[lost], tolerance=self.tolerance, deadline=deadline)
        endless = settled & falls(c[lost], ray)
        for place in lost[endless].tolist():
            status[place] = Status.UNBOUNDED
        rest = lost[~endless]
        if len(rest):
            x[rest], again = solve_first_order(rows, c[rest], tolerance=self.tolerance, deadline=deadline)
            for place, ok in zip(rest.tolist(), again.tolist(), strict=True):
                status[place] = Status.OPTIMAL if ok else Status.ERROR
        return x, status


def _there(rows: dict[torch.device, ScaledRows], device: torch.device) -> ScaledRows:
    if device not in rows:
        rows[device] = rows[torch.device("cpu")].to(device)
    return rows[device]
