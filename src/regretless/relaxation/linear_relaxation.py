"""The linear relaxation as an oracle: a larger feasible set that is solved much faster."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.problem import Problem


class LinearRelaxation:
    """Return optima of the linear relaxation; every solve is warm-started from one reference basis.

    With this oracle SPO+ becomes SPO-relax (Mandi et al., *Smart Predict-and-Optimize for Hard Combinatorial
    Optimization Problems*, AAAI 2020). Evaluation still uses the problem itself.

    Args:
        problem: a problem with a model.
        workers: threads; ``None`` for those of the problem.
    """

    def __init__(self, problem: Problem, *, workers: int | None = None) -> None:
        model = problem.model
        if model is None:
            raise InputError("the linear relaxation needs a problem with a MILP, this one has only a solver function")
        relaxed = model.relax()
        self.problem = problem
        self.relaxed = Problem(
            relaxed,
            sense=problem.sense,
            workers=workers or int(getattr(problem.backend, "workers", 1)),
            on_failure=problem.on_failure,
            name=f"{problem.name} (relaxed)",
            warm=True,
        )
        # Solves of the relaxation count as solves of the problem.
        self.relaxed.statistics = problem.statistics

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Relaxed solutions ``(batch, width)`` of minimization costs."""
        return self.relaxed(costs, instance)

    def answer(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> list[Tensor]:
        """Relaxed solutions of every query; see ``regretless.problem.Oracle``."""
        with torch.no_grad():
            return self.relaxed.answer(queries, predicted, instance)
