"""NPZ files: arrays without pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.errors import FileError, InputError
from regretless.milp import Floats
from regretless.missing_file import refuse_missing
from regretless.tables.row_names import row_key, row_names


def read_arrays(path: Path | str) -> dict[str, NDArray[Any]]:
    """Read all arrays of an NPZ file; pickled objects are refused.

    Raises:
        FileError: the file is missing or damaged, or holds Python objects.
    """
    path = Path(path)
    refuse_missing(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:  # a damaged header can make numpy raise anything
        said = str(error) or type(error).__name__
        raise FileError(f"{path} cannot be read as NPZ without pickle: {said}") from error
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise FileError(f"{path}: {name!r} is not an array")
    return arrays


def finite(path: Path, what: str, array: NDArray[Any]) -> Floats:
    """Return an array of an NPZ file as finite numbers; the error for any other value says where it is."""
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path}: the array {what!r} must hold numbers, got {array.dtype}")
    values = array.astype(np.float64)
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        raise InputError(f"{path}: the array {what!r} must be finite, got {values[place]} at {list(place)}")
    return values


def main_array(path: Path, arrays: dict[str, Any], name: str) -> str:
    """Return the key of the main array of a file: ``name``, or the only key."""
    if name in arrays:
        return name
    if len(arrays) == 1:
        return next(iter(arrays))
    raise InputError(f"{path} must hold an array called {name!r}, got {', '.join(sorted(arrays)[:5]) or 'none'}")


def strings(path: Path, arrays: dict[str, Any], name: str, count: int) -> tuple[str, ...] | None:
    """Return an array ``(count,)`` of distinct names; ``None`` if the file does not have it."""
    if name not in arrays:
        return None
    array = arrays[name]
    if array.shape != (count,):
        raise InputError(f"{path}: {name!r} must have shape ({count},), got {array.shape}")
    names = row_names([str(item) for item in array])
    if len({row_key(one) for one in names}) < count:
        raise InputError(f"{path}: {name!r} holds a name twice")
    return names
