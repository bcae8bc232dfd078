"""Old pickles of plain arrays, read without running anything that they ask for.

A pickle is a programme: it may call whatever it can name. Here the names it may say are those of NumPy arrays, SciPy
CSR matrices, lists and default dictionaries, and each stands for a small class of this file that only keeps and checks
what it is given. The arrays are built afterwards, from bytes whose number fits their shape.
"""

from __future__ import annotations

import io
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from regretless.errors import FileError

# Plain numbers only: a type of objects or of records would let the file build more than it shows.
_TYPES = {"b1", "i1", "u1", "i2", "i4", "i8", "u2", "u4", "u8", "f4", "f8"}


class _Type:
    """Stands for ``numpy.dtype``."""

    def __init__(self, code: Any, *_: Any) -> None:
        if code not in _TYPES:
            raise pickle.UnpicklingError(f"arrays of type {str(code)[:20]!r} are not admitted")
        self.code, self.order = str(code), "<"

    def __setstate__(self, state: Any) -> None:
        order = state[1]
        if order not in ("<", ">", "|", "="):
            raise pickle.UnpicklingError(f"byte order {str(order)[:20]!r} is not admitted")
        self.order = order


class _Array:
    """Stands for ``numpy.ndarray``; as the function ``_reconstruct`` it is called with the type, a shape and a code."""

    def __init__(self, *_: Any) -> None:
        self.value: Any = None

    def __setstate__(self, state: Any) -> None:
        _version, shape, kind, fortran, content = state
        if not isinstance(kind, _Type) or not isinstance(shape, tuple):
            raise pickle.UnpicklingError("an array needs a type and a shape")
        if not all(isinstance(size, int) and size >= 0 for size in shape):
            raise pickle.UnpicklingError("the shape of an array must hold whole numbers from 0 on")
        raw = content.encode("latin1") if isinstance(content, str) else content
        dtype = np.dtype(kind.order + kind.code)
        if not isinstance(raw, bytes) or math.prod(shape) * dtype.itemsize != len(raw):
            raise pickle.UnpicklingError(f"an array of shape {shape} does not fit its bytes")
        self.value = np.frombuffer(raw, dtype).reshape(shape, order="F" if fortran else "C").copy()


class _Csr:
    """Stands for ``scipy.sparse.csr_matrix``."""

    def __init__(self, *_: Any) -> None:
        self.parts: dict[str, Any] = {}

    def __setstate__(self, state: Any) -> None:
        names = ("data", "indices", "indptr")
        self.parts = {name: state[name].value for name in names} | {"shape": state["_shape"]}


class _Dictionary(dict[Any, Any]):
    """Stands for ``collections.defaultdict``; the factory it is called with is dropped."""

    def __init__(self, *_: Any) -> None:
        super().__init__()

    def __setstate__(self, state: Any) -> None:
        raise pickle.UnpicklingError("a dictionary has no further state")


_ADMITTED: dict[tuple[str, str], type] = {
    ("numpy", "dtype"): _Type,
    ("numpy", "ndarray"): _Array,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("scipy.sparse.csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
    ("collections", "defaultdict"): _Dictionary,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is not admitted") from None


def read_pickle(path: Path) -> Any:
    """Read a pickle of NumPy arrays, SciPy CSR matrices, lists, dictionaries, numbers and strings, from Python 2 or 3.

    Returns:
        an ``ndarray``, a ``csr_array``, or a plain container.

    Raises:
        FileError: the file cannot be read, is damaged, or asks for anything else; nothing it asks for has then run.
    """
    try:
        return _plain(_Reader(io.BytesIO(path.read_bytes()), encoding="latin1").load())
    except Exception as error:  # a hostile file may make the reader raise anything
        raise FileError(f"{path} is refused or damaged: {error}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, _Array):
        return value.value
    if isinstance(value, _Csr):
        parts = value.parts
        matrix = sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=parts["shape"])
        matrix.check_format(full_check=True)
        return matrix
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_plain, value))
    if isinstance(value, _Type | type):
        raise pickle.UnpicklingError(f"it holds {type(value).__name__} where data is expected")
    return value
