"""How a named problem is solved and labelled: the options that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.data import Dataset
from regretless.errors import InputError, SolveError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.types import Backend, OnFailure, Sense

Rows = Sequence[int] | NDArray[np.integer]


@dataclass(frozen=True, kw_only=True)
class Solving:
    """Options of all named problems.

    Attributes:
        engine: ``oracle`` for the problem's own exact solver, or the name of an engine that solves its model.
        workers: solves of an engine at the same time.
        executor: who runs them: ``threads``, ``processes`` or ``ray[:ADDRESS]``.
        time_limit: seconds for one solve by an engine, or by an oracle that can be slow.
        gap: relative distance to the optimum at which a solve by an engine may end.
        on_failure: with ``cache`` or ``skip`` instances without an optimum are left out, with a warning.
        store: folder that keeps true optima by content.
    """

    engine: str = "oracle"
    workers: int | None = 1
    executor: str = "threads"
    time_limit: float | None = None
    gap: float = 0.0
    on_failure: OnFailure = "raise"
    store: Path | str | None = None

    def __post_init__(self) -> None:
        if self.gap and self.engine == "oracle":
            raise InputError("gap= is for engines, and the problem's own solver has none: add engine='highs'")

    def problem(
        self, model: MILP | Family, sense: Sense, oracle: Callable[[], Backend] | None = None, **about: Any
    ) -> Problem:
        """The model with an engine, or with the special oracle that ``oracle`` builds, which must agree with it.

        Args:
            model: a MILP or a family of them.
            sense: of the objective.
            oracle: builds the special oracle; ``None`` where the problem has none.
            about: further arguments of ``Problem``, such as ``bound``.
        """
        if self.engine == "oracle" and oracle is not None:
            return Problem(model, oracle=oracle(), sense=sense, **about)
        engine = "highs" if self.engine == "oracle" else self.engine
        how: dict[str, Any] = {"workers": self.workers, "executor": self.executor, "time_limit": self.time_limit}
        how |= {"gap": self.gap} if self.gap else {}
        return Problem(model, sense=sense, engine=engine, **how, **about)

    def labelled(
        self, problem: Problem, features: Any, costs: Any, parts: Sequence[Rows], instance: Any = None
    ) -> list[Dataset]:
        """Solve the true optima of all rows at once, and select the rows of each part.

        Rows without a solution are left out of their part, where ``on_failure`` allows it.

        Args:
            problem: what to solve; ``on_failure`` is also for its training.
            features, costs, instance: as for ``Dataset.solve``.
            parts: rows of each part; a part may be empty.

        Raises:
            SolveError: a row has no solution and ``on_failure`` is ``"raise"``, or no row of a part has one.
        """
        problem.on_failure = self.on_failure
        numbers = [str(row) for row in range(len(costs))]
        data = Dataset.solve(problem, features, costs, instance=instance, store=self.store, names=numbers)
        place = {int(name): k for k, name in enumerate(data.names or ())}
        data, found = replace(data, names=None), []
        for rows in parts:
            found.append(data[[place[int(row)] for row in rows if int(row) in place]])
            if len(rows) and not len(found[-1]):
                raise SolveError(
                    f"{problem.name} has no solution for any of the {len(rows)} instances of a part of its data"
                )
        return found
