"""Forecasts of the costs that another model made, from a file, for the rows of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.listing import listed
from regretless.tables import read_costs


def read_forecasts(
    path: Path | str,
    cost_names: Sequence[str],
    names: Sequence[str] | None,
    count: int,
    *,
    where: str,
    id: str = "instance",
) -> Tensor:
    """Read forecasts ``(n, d)`` for the rows of a data set; the file has the form of true costs.

    Args:
        path: one row per instance and one column per cost variable, or one row per variable and instance.
        cost_names: the variables.
        names: of the rows, in their order; ``None`` where they have none and are matched by position. The file may have
            more rows with names.
        count: number of the rows.
        where: the name of the data, for messages.
        id: column that names the rows.

    Raises:
        InputError: the file cannot be read, or its rows cannot be matched.
    """
    found = read_costs(path, cost_names, id=id)
    values = torch.as_tensor(found.values).to(torch.float64)
    if found.instance is not None and names is not None:
        place = {name: row for row, name in enumerate(found.instance)}
        missing = [name for name in names if name not in place]
        if missing:
            raise InputError(f"{path} has no forecast for {len(missing)} rows of {where}: {listed(missing)}")
        return values[[place[name] for name in names]]
    if found.instance is not None or names is not None:
        named, other = (path, where) if found.instance is not None else (where, path)
        raise InputError(
            f"{named} has names of its rows and {other} has none, so that they cannot be matched: name the rows of the "
            "training tables and of the forecasts (column 'instance', or --id), or of neither"
        )
    if len(values) != count:
        raise InputError(
            f"{path} has {len(values)} rows and {where} has {count}: give the forecasts of these rows, or name the "
            "rows of the training tables and of the forecasts (column 'instance', or --id)"
        )
    return values
