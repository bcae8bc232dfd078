"""Features given as costs: the two files are exchanged, or one file is given as both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regretless.errors import InputError
from regretless.listing import alike
from regretless.tables.cells import Cells
from regretless.tables.probable_columns import variable_column


def refuse_exchanged(features: Any, costs: Any, cost_names: Sequence[str]) -> None:
    """Refuse a table of features without features, which is that of the costs; arrays are not compared.

    Raises:
        InputError: both are one file, or the columns of the costs are in the file of features only.
    """
    if not isinstance(features, Cells) or not isinstance(costs, Cells):
        return
    if features.source == costs.source:
        raise InputError(
            f"--features and --costs both name {costs.source}: the model would predict costs from themselves. Write "
            "the features to a file of their own"
        )
    if not _has_costs(costs, cost_names) and set(features.columns) & set(cost_names):
        raise InputError(
            f"{features.source} has the columns of the costs, and {costs.source} has none of them: exchange --features "
            "and --costs"
        )


def _has_costs(cells: Cells, cost_names: Sequence[str]) -> bool:
    """Whether a table is that of the costs, whatever else is wrong with it."""
    have = list(cells.columns)
    named = set(have) & set(cost_names) or alike(have, cost_names)
    return bool(named) or "variable" in have or variable_column(cells, cost_names) is not None
