"""Linear programs in batches, in torch: one constraint matrix and many costs, on the device of the costs.

HiGHS solves one linear program after another on one core. Where thousands of programs share their constraints, a GPU
solves them together; no library does that for a batch of costs, so the methods are written here.
"""

from __future__ import annotations

import time
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError, SolveError
from regretless.linear_programs.first_order_solver import FirstOrderSolver
from regretless.linear_programs.interior_solver import InteriorSolver
from regretless.linear_programs.program_answers import Answers, ProgramSolver
from regretless.milp import MILP, Floats
from regretless.number_checks import check_number
from regretless.solvers.engine import Outcome
from regretless.types import Status

Method = Literal["auto", "interior", "first-order"]
TOLERANCE = 1e-7
# The interior point factorizes a dense matrix of the rows per program and iteration.
MOST_ROWS, MOST_ENTRIES = 500, 20_000_000


class BatchedLP:
    """The engine ``batched-lp`` for one model.

    Args:
        milp: a model without integer variables.
        time_limit: seconds for one call of ``solve_batch`` or ``solve``.
        method: ``"interior"`` (interior point, then the vertex), ``"first-order"`` (for many sparse rows), or
            ``"auto"``: interior point up to 500 rows.
        tolerance: of residuals and gap, relative; see ``solve_interior`` and ``solve_first_order``.

    Raises:
        InputError: the model has integer variables, or a setting does not fit.
    """

    def __init__(
        self,
        milp: MILP,
        *,
        time_limit: float | None = None,
        method: Method = "auto",
        tolerance: float = TOLERANCE,
    ) -> None:
        if milp.integer.any():
            first = int(np.argmax(milp.integer))
            name = "" if milp.names is None else f" ({milp.names[first]})"
            raise InputError(
                f"engine 'batched-lp' solves linear programs, and variable {first}{name} is an integer: use another "
                "engine, or milp.relax() for the linear relaxation"
            )
        if method not in get_args(Method):
            raise InputError(f"method must be one of {', '.join(get_args(Method))}, got {method!r}")
        if check_number("tolerance", tolerance) >= 1:
            raise InputError(f"tolerance must be between 0 and 1, got {tolerance!r}")
        self.milp, self.time_limit, self.tolerance = milp, time_limit, tolerance
        self._programs: ProgramSolver = self._make(method)

    def _make(self, method: Method) -> ProgramSolver:
        rows, n = self.milp.A.shape
        small = rows <= MOST_ROWS and rows * n <= MOST_ENTRIES
        if method == "interior" or (method == "auto" and small):
            try:
                return InteriorSolver(self.milp, tolerance=self.tolerance)
            except SolveError:
                if method == "interior":
                    raise
        return FirstOrderSolver(self.milp, tolerance=self.tolerance)

    def solve_batch(self, objectives: Tensor) -> Answers:
        """Minimize ``objectives`` ``(batch, n)``, on their device."""
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        return self._programs.solve(objectives.to(torch.float64), deadline=deadline)

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimize one objective; see ``Engine``. A starting point is not used."""
        answers = self.solve_batch(torch.as_tensor(objective, dtype=torch.float64)[None])
        if answers.status[0] is Status.OPTIMAL:
            return Outcome(answers.x[0].numpy(), Status.OPTIMAL)
        return Outcome(None, answers.status[0], np.inf, answers.message.get(0, ""))


def build(milp: MILP, *, time_limit: float | None = None, **options: Any) -> BatchedLP:
    """Build the engine; see ``make_engine``."""
    unknown = [name for name in options if name not in ("method", "tolerance")]
    if unknown:
        raise InputError(f"engine 'batched-lp' has the options method and tolerance, got {unknown[0]!r}")
    return BatchedLP(milp, time_limit=time_limit, **options)
