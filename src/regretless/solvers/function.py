"""Any Python function ``costs -> solution`` as an exact oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.errors import SolveError
from regretless.family import Family, member
from regretless.milp import MILP, TOLERANCE, Floats
from regretless.solvers.answers import answer_check
from regretless.solvers.executors import Clock, Execution, Unanswered
from regretless.solvers.time_limit import limit_or_none
from regretless.types import Solved, Status

# costs in the user's sense, and the family member
_Job = tuple[Floats, int | None]


class FunctionBackend:
    """Call ``function(costs)`` (for a family ``function(costs, instance)``) once per instance.

    The function works in the user's sense: it gets the costs as the user writes them. Its answers are checked: they
    must have the right length and finite values, and, where a model is given, be feasible for it.

    Args:
        function: takes ``(width,)`` costs, returns a solution ``(width,)`` in cost space. Where the model has known
            costs, the last cost is their weight; with the identity as cost map ``(n,)`` values are enough. For a family
            with models it takes the costs ``(n,)`` of all variables, known ones included, and returns their values.
        width: length of a solution.
        sign: -1 where the function maximizes, else 1.
        model: a MILP or family; with the identity as cost map the answers are checked against it.
        with_instance: whether the function takes the instance id as second argument.
        workers: calls that run at the same time; with more than one worker the function must be safe to call from
            several threads.
        time_limit: seconds for one call; a call that exceeds it is given up on.
        executor: ``"threads"`` or, for functions that can be pickled, ``"processes"`` or ``"ray[:ADDRESS]"``.
    """

    one_by_one = True  # how instances are grouped to batches changes no number

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        width: int,
        sign: float,
        model: MILP | Family | None = None,
        with_instance: bool = False,
        workers: int = 1,
        time_limit: float | None = None,
        executor: str = "threads",
    ) -> None:
        time_limit = limit_or_none(time_limit)
        self.function, self.width, self.sign, self.model = function, width, sign, model
        self.workers, self.time_limit = workers, time_limit
        work = _Calls(function, with_instance)
        self._calls: Execution[_Job, Floats | str] = Execution(executor, work, workers=workers, limit=time_limit)
        first = None if model is None else member(model)
        self._family = model if isinstance(model, Family) else None
        # how many values are the decision itself
        hidden = first is None or (self._family is None and first.cost_map is not None)
        self._visible = width if hidden or first is None else first.n

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, width)`` costs; see ``regretless.types.Backend``."""
        rows = (self.sign * costs.detach().cpu().to(torch.float64)).numpy()
        ids: list[int | None] = [None] * len(rows) if instance is None else instance.tolist()
        if self._family is not None:
            rows = np.array([self._family[i or 0].objective(row[None])[0] for row, i in zip(rows, ids, strict=True)])
        solution = np.full((len(rows), self.width), np.nan)
        status = [Status.OPTIMAL] * len(rows)
        message: dict[int, str] = {}
        for k, answer in enumerate(self._calls.map(list(zip(rows, ids, strict=True)))):
            try:
                solution[k] = self._checked(answer, ids[k])
            except SolveError as error:
                late = isinstance(answer, Unanswered) and answer.status is Status.TIME_LIMIT
                status[k], message[k] = Status.TIME_LIMIT if late else Status.ERROR, str(error)
        x = None
        if decision:
            x = solution[:, : self._visible] if self._family is None else self._family.decisions(solution)
        gap = np.where(np.isnan(solution).any(axis=1), np.inf, 0.0)
        return Solved.of_arrays(costs.device, solution, status, gap.tolist(), message, x)

    def _checked(self, answer: Floats | str | Unanswered, instance: int | None) -> Floats:
        if isinstance(answer, Unanswered):
            raise SolveError(
                f"the solver function {answer.message}" if answer.status is Status.TIME_LIMIT else answer.message
            )
        if isinstance(answer, str):
            raise SolveError(answer)
        lengths = (self._visible,) if self._family is not None else (self.width, self._visible)
        if answer.ndim != 1 or len(answer) not in lengths:
            raise SolveError(f"the solver function must return {lengths[0]} values, got shape {answer.shape}")
        if not np.isfinite(answer).all():
            raise SolveError("the solver function returned NaN or infinite values")
        model = None if self.model is None else member(self.model, instance or 0)
        if model is None or (self._family is None and model.cost_map is not None):
            return answer + 0.0
        x = answer_check(model).settled(answer[: model.n], TOLERANCE)
        if x is None:
            raise SolveError("the solver function returned a solution that is infeasible for the model")
        exact: Floats = model.solution(x)[0]
        return exact


class _Calls:
    """Calls the function, in whatever thread or process; an exception becomes the text of its answer."""

    def __init__(self, function: Callable[..., Any], with_instance: bool) -> None:
        self.function, self.with_instance = function, with_instance

    def __call__(self, job: _Job, clock: Clock) -> Floats | str:
        costs, instance = job
        try:
            clock()
            answer = self.function(costs.copy(), instance) if self.with_instance else self.function(costs.copy())
        except (Exception, SystemExit) as error:  # a solver must not end the process
            return str(error) if isinstance(error, SolveError) else f"{type(error).__name__}: {error}"
        try:
            values = np.asarray(answer.detach().cpu() if isinstance(answer, Tensor) else answer)
            if np.iscomplexobj(values):
                raise TypeError(f"{values.dtype} numbers")
            return values.astype(np.float64)
        except Exception as error:
            return (
                "the solver function must return the values of a solution as an array or a list, and nothing else, got "
                f"{type(answer).__name__}: {error}"
            )
