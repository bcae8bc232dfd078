"""Any Python function ``costs -> solution`` as an exact oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.family import Family
from regretless.milp import MILP
from regretless.types import Solved, Status


class FunctionBackend:
    """Call ``function(costs)`` (for a family ``function(costs, instance)``) once an instance.

    The function speaks the user's sense: it gets the costs as the user would write them. What it returns is not trusted:
    it must have the right length and finite values, and, where a model is there to check it, be feasible.

    Args:
        function: takes ``(d,)`` costs, returns a solution ``(width,)`` in cost space.
        width: length of a solution.
        sign: -1 where the function maximises, else 1.
        model: a MILP or family with the identity as cost map, to check the answers against.
        with_instance: whether the function takes the instance id as second argument.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        width: int,
        sign: float,
        model: MILP | Family | None = None,
        with_instance: bool = False,
    ) -> None:
        self.function, self.width, self.sign, self.model = function, width, sign, model
        self.with_instance = with_instance

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, width)`` costs; see ``regretless.types.Backend``."""
        rows = (self.sign * costs.detach().cpu().to(torch.float64)).numpy()
        ids = [None] * len(rows) if instance is None else instance.tolist()
        solution = np.full((len(rows), self.width), np.nan)
        status = [Status.OPTIMAL] * len(rows)
        message: dict[int, str] = {}
        for k, (row, i) in enumerate(zip(rows, ids, strict=True)):
            try:
                answer = self.function(row.copy(), i) if self.with_instance else self.function(row.copy())
                problem = self._fault(answer, i)
            except Exception as error:
                answer, problem = None, f"{type(error).__name__}: {error}"
            if problem:
                status[k], message[k] = Status.ERROR, problem
            else:
                solution[k] = _array(answer)
        values = torch.as_tensor(solution, device=costs.device)
        return Solved(values, status if message else None, decision=values if decision else None, message=message)

    def _fault(self, answer: Any, instance: int | None) -> str:
        values = _array(answer)
        if values.shape != (self.width,):
            return f"the solver function must return {self.width} values, got shape {values.shape}"
        if not np.isfinite(values).all():
            return "the solver function returned NaN or infinite values"
        model = self.model[instance or 0] if isinstance(self.model, Family) else self.model
        if model is not None and model.cost_map is None and not model.has_fixed_cost and not model.check(values)[0]:
            return "the solver function returned a solution that is infeasible for the model"
        return ""


def _array(answer: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    if isinstance(answer, Tensor):
        answer = answer.detach().cpu().numpy()
    return np.asarray(answer, dtype=np.float64)
