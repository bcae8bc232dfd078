"""The linear relaxation as an oracle: a larger feasible set that is solved much faster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.problem import Problem


class LinearRelaxation:
    """Return optima of the linear relaxation.

    With this oracle SPO+ becomes SPO-relax (Mandi et al., *Smart Predict-and-Optimize for Hard Combinatorial
    Optimization Problems*, AAAI 2020). Evaluation still uses the problem itself.

    Args:
        problem: a problem with a model. Its time limit holds for the relaxation as well.
        workers: threads of HiGHS; ``None`` for those of the problem. Only for the engine ``"highs"``.
        engine: ``"highs"``, whose solves start from the optimal basis of one reference objective, or ``"batched-lp"``,
            which solves a batch at once on the device of the costs.
    """

    def __init__(
        self, problem: Problem, *, workers: int | None = None, engine: Literal["highs", "batched-lp"] = "highs"
    ) -> None:
        if not isinstance(problem, Problem):
            raise InputError(f"the linear relaxation needs a Problem, got {type(problem).__name__}")
        if problem.model is None:
            raise InputError("the linear relaxation needs a problem with a MILP, this one has only a solver function")
        if engine not in ("highs", "batched-lp"):
            raise InputError(f"engine must be 'highs' or 'batched-lp', got {engine!r}")
        how: dict[str, Any] = {"workers": workers, "time_limit": getattr(problem.backend, "time_limit", None)}
        if engine == "highs":
            how |= {"warm": True, "workers": problem.workers if workers is None else workers}
        self.problem, self.engine, self._how = problem, engine, how
        self.relaxed = self._relax()

    def _relax(self) -> Problem:
        """The relaxed problem, with the members that the family has now."""
        relaxed = Problem(
            self.problem.model.relax(),
            sense=self.problem.sense,
            engine=self.engine,
            on_failure=self.problem.on_failure,
            name=f"{self.problem.name} (relaxed)",
            **self._how,
        )
        # Solves of the relaxation count as solves of the problem.
        relaxed.statistics = self.problem.statistics
        return relaxed

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Relaxed solutions ``(batch, width)`` of minimization costs."""
        return self.answer([costs], costs, instance)[0]

    def answer(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> list[Tensor]:
        """Relaxed solutions of every query; see ``regretless.oracle.Oracle``."""
        if self.problem.instances != self.relaxed.instances:  # members have joined the family
            self.relaxed = self._relax()
        with torch.no_grad():
            return self.relaxed.answer(queries, predicted, instance)
