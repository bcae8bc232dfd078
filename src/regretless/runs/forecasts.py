"""Forecasts of the costs that another model made, from a file, for the rows of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from regretless.tables import read_costs
from regretless.tables.costs import row_order
from regretless.tables.row_names import row_key
from regretless.tables.saved_problem import SavedProblem


def read_forecasts(
    path: Path | str,
    cost_names: Sequence[str],
    names: Sequence[str] | None,
    count: int,
    *,
    where: str,
    saved: SavedProblem | None = None,
) -> Tensor:
    """Read forecasts ``(n, d)`` for the rows of a data set; the file has the form of true costs.

    Args:
        path: one row per instance and one column per cost variable, or one row per variable and instance.
        cost_names: the variables.
        names: of the rows, in their order; ``None`` where they have none and are matched by position. The file may have
            more rows with names.
        count: number of the rows.
        where: the name of the data, for messages.
        saved: the problem of a run on a model file.

    Raises:
        InputError: the file cannot be read, or its rows cannot be matched.
    """
    found = read_costs(path, cost_names) if saved is None else saved.costs(path)
    values = torch.as_tensor(found.values).to(torch.float64)
    kept = list(range(len(values)))
    if found.instance is not None and names is not None:
        wanted = {row_key(name) for name in names}
        kept = [row for row, name in enumerate(found.instance) if row_key(name) in wanted] or kept
    have = None if found.instance is None else [found.instance[row] for row in kept]
    order = row_order(have, names, counts=(len(kept), count), names=(str(path), where))
    return values[[kept[row] for row in order]]
