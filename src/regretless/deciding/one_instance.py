"""The features of one request, as a tensor: by the names of the columns of training, or as an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.tables.cells import Cells, frame_cells, row_cells
from regretless.tables.features import stacked
from regretless.tables.saved_problem import SavedProblem
from regretless.tensors import NOT_NUMBERS


def one_instance(given: Any, saved: SavedProblem) -> Tensor:
    """Read the features of one instance.

    Args:
        given: a mapping or a data frame of one row with the columns of training, dates and categories as they are; for
            features per variable a data frame or a list of mappings with a row per variable, named by the column
            ``variable``; or an array with the shape of the features of one instance.
        saved: the problem of the run, with the encoding of its columns.

    Raises:
        InputError: columns, shape or values that do not fit.
    """
    cells = None
    if hasattr(given, "columns"):  # a data frame
        cells = frame_cells(given)
    elif isinstance(given, Mapping) or hasattr(given, "to_dict"):  # to_dict: a row of a data frame
        cells = row_cells([given if isinstance(given, Mapping) else given.to_dict()], "features")
    elif isinstance(given, list | tuple) and given and all(isinstance(row, Mapping) for row in given):
        cells = row_cells(given, "features")
    if cells is not None:
        given = _encoded(cells, saved)
    try:
        values = np.asarray(given, dtype=np.float64)
    except NOT_NUMBERS as error:
        raise InputError(f"features must be numbers, or named as the columns of training: {error}") from error
    if values.shape != saved.shape:
        raise InputError(f"features of one instance must have shape {saved.shape}, got {values.shape}")
    if not np.isfinite(values).all():
        raise InputError("features must be finite, got NaN or infinity")
    return torch.from_numpy(np.array(values))


def _encoded(cells: Cells, saved: SavedProblem) -> Floats:
    """The features of named columns: of one row, or of a row per variable."""
    if saved.encoding is None:
        raise InputError(f"the features of this run have no names: give an array of shape {saved.shape}")
    if len(saved.shape) == 1:
        if len(cells) != 1:
            raise InputError(f"features must be one instance, got {len(cells)} rows")
        return np.asarray(saved.encoding.apply(cells)[0])
    if "variable" not in cells.columns:
        raise InputError(
            "this run has features per variable: give a data frame with a column 'variable' and a row per variable, "
            f"a list of such rows, or an array of shape {saved.shape}"
        )
    names = cells.key(saved.id) or ("given",) * len(cells)
    rows = stacked(cells, names, saved.cost_names)
    if len(rows) != 1:
        raise InputError(f"features must be one instance, got {len(rows)} instances")
    return saved.encoding.apply(cells.without(["variable"]).rows(rows[0]))
