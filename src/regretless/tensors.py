"""User input (arrays, nested lists, data frames) as tensors, what tensors hold as a hash, and gradients of tensors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.errors import InputError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

AS_IT_IS: AbstractContextManager[None] = nullcontext()
# What values that are no floats raise when they are converted; the last one is for integers beyond all floats.
NOT_NUMBERS = (TypeError, ValueError, OverflowError)


def tensor(name: str, value: Any) -> Tensor:
    """Return numbers as a new tensor; a tensor is returned without its gradient.

    Args:
        name: what the values are, for the message.
        value: array, nested list, data frame or tensor.

    Raises:
        InputError: not numbers, or lists of different lengths.
    """
    if isinstance(value, Tensor):
        if value.is_complex():
            raise InputError(f"{name} must be real numbers, got {value.dtype}")
        return value.detach()
    if value is None:
        raise InputError(f"{name} must be numbers, got None")
    try:
        # A copy: the caller's array may be read-only, and may change later.
        array = np.array(value.to_numpy() if hasattr(value, "to_numpy") else value, order="C")
        if np.iscomplexobj(array):
            raise InputError(f"{name} must be real numbers, got {array.dtype}")
        return torch.from_numpy(array.astype(np.float64) if array.dtype == object else array)
    except NOT_NUMBERS as error:
        raise InputError(f"{name} must be numbers, got {type(value).__name__}: {error}") from error


def pullback(output: Tensor, gradient: Tensor) -> Tensor:
    """Return a number whose gradient with respect to ``output`` is ``gradient``, to the bit.

    ``torch.autograd.backward(output, gradient)`` needs no such number, but imports sympy, which takes half a second.
    """
    if gradient.dtype != output.dtype:
        gradient = gradient.to(output.dtype)
    return torch.dot(output.reshape(-1), gradient.reshape(-1))


def with_gradient(output: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
    """Return ``value`` with a graph in which its gradient with respect to ``output`` is ``gradient``, to the bit.

    A product has that gradient, and its result is overwritten: torch's own operations take less time than a
    ``torch.autograd.Function``.

    Args:
        output: ``(batch, d)``.
        value: a number, or ``(batch,)`` of which each depends on its row of ``output``.
        gradient: ``(batch, d)``.
    """
    if not (output.requires_grad and torch.is_grad_enabled()):
        return value
    result = pullback(output, gradient) if value.ndim == 0 else (output * gradient).sum(1)
    if result.dtype != value.dtype:
        result = result.to(value.dtype)
    result.detach().copy_(value)  # in the same memory
    return result


def features_tensor(value: Any) -> Tensor:
    """Return features as a tensor that a model takes.

    Arrays, lists and data frames have the default precision of torch afterwards, as the weights of a model have. So do
    booleans. A tensor of numbers keeps its kind: integers may be the rows of an embedding.

    Args:
        value: array, nested list, data frame or tensor ``(n, ...)``.

    Raises:
        InputError: not numbers.
    """
    if isinstance(value, dict) or (isinstance(value, tuple) and any(hasattr(part, "shape") for part in value)):
        raise InputError(
            f"features must be one array, got a {type(value).__name__}: put several inputs of a model side by side in "
            "one array, and let its forward cut them apart, as in x[:, :5] and x[:, 5:]"
        )
    given = tensor("features", value)
    keep = isinstance(value, Tensor) and given.dtype != torch.bool
    return given if keep else given.to(torch.get_default_dtype())


def ids(value: Any) -> Tensor | None:
    """Return instance ids as int64, refusing values that are not integers; ``None`` stays ``None``."""
    if value is None or (isinstance(value, Tensor) and value.dtype == torch.int64):
        return value
    given = tensor("instance", value)
    integer = given.to(torch.int64)
    if given.dtype == torch.bool or not torch.equal(integer.to(given.dtype), given):
        raise InputError(f"instance must be integers, got {given.dtype} values such as {given.flatten()[:3].tolist()}")
    return integer


def in_dtype(values: Tensor, dtype: torch.dtype) -> Tensor:
    """Values as ``dtype``; where nothing changes, torch's own call takes ten times as long as this comparison."""
    return values if values.dtype == dtype else values.to(dtype)


def without_graph(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """A function that builds no graph, as by ``torch.no_grad()``, which takes five times as long."""

    # Torch's own ``set_grad_enabled`` is an object around this function, and takes several times as long.
    set_enabled = torch._C._set_grad_enabled

    @wraps(function)
    def called(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if not torch.is_grad_enabled():
            return function(*args, **kwargs)
        set_enabled(False)
        try:
            return function(*args, **kwargs)
        finally:
            set_enabled(True)

    return called


@contextmanager
def lasting_tensors() -> Iterator[None]:
    """Inside of the block, tensors are made that can be written to and differentiated with later.

    Those that are made under ``torch.inference_mode()`` cannot; what is kept from one call to the next must not depend
    on the mode of the first one.
    """
    with torch.inference_mode(False), torch.no_grad():
        yield


def known_to_numpy(values: Tensor) -> bool:
    """Whether NumPy can read and write a tensor in place: on a CPU it does small things in half the time of torch."""
    return values.is_cpu and values.dtype != torch.bfloat16


def rows_at(values: Tensor | NDArray[Any], positions: Tensor) -> Tensor:
    """Rows ``(m, ...)`` of detached values ``(n, ...)`` at positions ``(m,)``, as a tensor of their own."""
    if isinstance(values, np.ndarray):
        return torch.from_numpy(values.take(positions.numpy(), axis=0))
    if known_to_numpy(values):
        return torch.from_numpy(values.numpy().take(positions.numpy(), axis=0))
    return values.index_select(0, positions)


def write_rows(into: Tensor, positions: Tensor, rows: Tensor) -> None:
    """Write rows ``(m, ...)`` of any precision at positions ``(m,)``."""
    rows = rows.detach()
    if known_to_numpy(into) and known_to_numpy(rows):
        into.numpy()[positions.numpy()] = rows.numpy()
    else:
        into.index_copy_(0, positions, in_dtype(rows, into.dtype))


def no_autocast(kind: str) -> AbstractContextManager[object]:
    """Switch autocast off on a kind of device: in half precision the product of a look-up confuses members of S."""
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else AS_IT_IS


def scalar(number: float, like: Tensor) -> Tensor | float:
    """A number to multiply or divide ``like`` by, with the same result as the number itself.

    On a CPU torch takes twice as long to convert a number as to multiply a small tensor by it.
    """
    return _constant(number, like.dtype) if like.is_cpu else number


@lru_cache(maxsize=256)
def _constant(number: float, dtype: torch.dtype) -> Tensor:
    with torch.inference_mode(False):  # such a tensor could not be part of a graph later
        return torch.tensor(number, dtype=dtype)


def hash_of(tensors: Iterable[Tensor]) -> str:
    """A hash of the content of tensors, in their order."""
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
