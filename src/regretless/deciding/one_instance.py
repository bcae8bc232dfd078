"""The features of one request, as a tensor: by the names of the columns of training, or as an array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.tables.cells import row_cells
from regretless.tables.saved_problem import SavedProblem
from regretless.tensors import NOT_NUMBERS


def one_instance(given: Any, saved: SavedProblem) -> Tensor:
    """Read the features of one instance.

    Args:
        given: a mapping or a data frame of one row with the columns of training, dates and categories as they are; or
            an array with the shape of the features of one instance.
        saved: the problem of the run, with the encoding of its columns.

    Raises:
        InputError: columns, shape or values that do not fit.
    """
    if hasattr(given, "columns") and hasattr(given, "to_dict"):  # a data frame
        rows = given.to_dict("records")
        if len(rows) != 1:
            raise InputError(f"features must be one instance, got a data frame of {len(rows)} rows")
        given = rows[0]
    elif hasattr(given, "to_dict"):  # a row of one
        given = given.to_dict()
    if isinstance(given, Mapping):
        if saved.encoding is None or len(saved.shape) > 1:
            raise InputError(f"the features of this run have no names: give an array of shape {saved.shape}")
        given = saved.encoding.apply(row_cells(given, "features"))[0]
    try:
        values = np.asarray(given, dtype=np.float64)
    except NOT_NUMBERS as error:
        raise InputError(f"features must be numbers, or named as the columns of training: {error}") from error
    if values.shape != saved.shape:
        raise InputError(f"features of one instance must have shape {saved.shape}, got {values.shape}")
    if not np.isfinite(values).all():
        raise InputError("features must be finite, got NaN or infinity")
    return torch.from_numpy(np.array(values))
