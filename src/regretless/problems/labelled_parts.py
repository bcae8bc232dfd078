"""Label the data of a named problem, and cut it into its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.data import Dataset
from regretless.errors import SolveError
from regretless.problem import Problem
from regretless.types import OnFailure

Rows = Sequence[int] | NDArray[np.integer]


def labelled_parts(
    problem: Problem,
    features: Any,
    costs: Any,
    parts: Sequence[Rows],
    *,
    on_failure: OnFailure,
    instance: Any = None,
    store: Path | str | None = None,
) -> list[Dataset]:
    """Solve the true optima of all rows at once, and select the rows of each part.

    Rows without a solution are left out of their part, where ``on_failure`` allows it.

    Args:
        problem: what to solve.
        features, costs, instance, store: as for ``Dataset.solve``.
        parts: rows of each part; a part may be empty.
        on_failure: of the problem, for its labels and for training.

    Raises:
        SolveError: a row has no solution and ``on_failure`` is ``"raise"``, or no row of a part has one.
    """
    problem.on_failure = on_failure
    numbers = [str(row) for row in range(len(costs))]
    data = Dataset.solve(problem, features, costs, instance=instance, store=store, names=numbers)
    place = {int(name): k for k, name in enumerate(data.names or ())}
    data, found = replace(data, names=None), []
    for rows in parts:
        found.append(data[[place[int(row)] for row in rows if int(row) in place]])
        if len(rows) and not len(found[-1]):
            raise SolveError(
                f"{problem.name} has no solution for any of the {len(rows)} instances of a part of its data"
            )
    return found
