"""Any Python function ``costs -> solution`` as an exact oracle."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError, SolveError
from regretless.family import Family, member
from regretless.milp import MILP, Floats
from regretless.solvers.deadline import Watched
from regretless.solvers.engine import snapped
from regretless.types import Solved, Status

# the values, how it ended, and what went wrong
_Call = tuple[Floats | None, Status, str]


class FunctionBackend:
    """Call ``function(costs)`` (for a family ``function(costs, instance)``) once an instance.

    The function speaks the user's sense: it gets the costs as the user would write them. What it returns is not
    trusted: it must have the right length and finite values, and, where a model is there to check it, be feasible.

    Args:
        function: takes ``(width,)`` costs, returns a solution ``(width,)`` in cost space. Where the model has known
            costs, the last cost is their weight; with the identity as cost map ``(n,)`` values are enough then.
        width: length of a solution.
        sign: -1 where the function maximises, else 1.
        model: a MILP or family; with the identity as cost map the answers are checked against it.
        with_instance: whether the function takes the instance id as second argument.
        time_limit: seconds for one call; the function knows nothing of it, so it is called in a thread that is given up
            on (a thread cannot be killed: it works on behind, beside the next call, and its answer is thrown away).
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        width: int,
        sign: float,
        model: MILP | Family | None = None,
        with_instance: bool = False,
        time_limit: float | None = None,
    ) -> None:
        if time_limit is not None and not time_limit > 0:
            raise InputError(f"time_limit must be positive seconds or None, got {time_limit}")
        self.function, self.width, self.sign, self.model = function, width, sign, model
        self.with_instance, self.time_limit = with_instance, time_limit
        self._watched: Watched[tuple[Floats, int | None], _Call] | None = None
        self._process = os.getpid()
        first = None if model is None else member(model)
        # how many of a solution's values are the decision itself
        self._visible = width if first is None or first.cost_map is not None else first.n

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, width)`` costs; see ``regretless.types.Backend``."""
        rows = (self.sign * costs.detach().cpu().to(torch.float64)).numpy()
        ids = [None] * len(rows) if instance is None else instance.tolist()
        solution = np.full((len(rows), self.width), np.nan)
        status = [Status.OPTIMAL] * len(rows)
        message: dict[int, str] = {}
        for k, (answer, ended, said) in enumerate(self._calls(list(zip(rows, ids, strict=True)))):
            if answer is not None:
                solution[k] = answer
            else:
                status[k], message[k] = ended, said
        values = torch.as_tensor(solution, device=costs.device)
        gap = torch.as_tensor(np.where(np.isnan(solution).any(axis=1), np.inf, 0.0), device=costs.device)
        return Solved(
            solution=values,
            status=status if message else None,
            gap=gap if message else None,
            decision=values[:, : self._visible] if decision else None,
            message=message,
        )

    def _calls(self, jobs: list[tuple[Floats, int | None]]) -> Iterable[_Call]:
        if self.time_limit is None:
            return map(self._call, jobs)
        if self._watched is None or self._process != os.getpid():  # threads do not survive a fork
            self._process, self._watched = os.getpid(), Watched(1, self.time_limit)
        return self._watched.map(self._call, jobs, self._late)

    def _call(self, job: tuple[Floats, int | None], clock: Callable[[], None] | None = None) -> _Call:
        row, instance = job
        try:
            if clock is not None:
                clock()
            answer = self.function(row.copy(), instance) if self.with_instance else self.function(row.copy())
            return self._checked(_array(answer), instance), Status.OPTIMAL, ""
        except (Exception, SystemExit) as error:  # a solver may not end the process on its own
            said = str(error) if isinstance(error, SolveError) else f"{type(error).__name__}: {error}"
            return None, Status.ERROR, said

    def _late(self, job: tuple[Floats, int | None]) -> _Call:
        said = f"the solver function took longer than {self.time_limit:g} s and was given up on"
        return None, Status.TIME_LIMIT, said

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_watched": None}

    def _checked(self, values: Floats, instance: int | None) -> Floats:
        if values.shape not in ((self.width,), (self._visible,)):
            raise SolveError(f"the solver function must return {self.width} values, got shape {values.shape}")
        if not np.isfinite(values).all():
            raise SolveError("the solver function returned NaN or infinite values")
        model = None if self.model is None else member(self.model, instance or 0)
        if model is None or model.cost_map is not None:
            return values + 0.0
        if not model.check(values[: model.n])[0]:
            raise SolveError("the solver function returned a solution that is infeasible for the model")
        exact: Floats = model.solution(snapped(model, values[: model.n]))[0]
        return exact


def _array(answer: Any) -> Floats:
    if isinstance(answer, Tensor):
        answer = answer.detach().cpu().numpy()
    return np.asarray(answer, dtype=np.float64)
