"""Refusal of a formula whose result is not one value per instance."""

from __future__ import annotations

from typing import Any, NoReturn

from torch import Tensor

from regretless.errors import InputError


def refuse_result(loss: object, formula: str, costs: Tensor, given: Any) -> NoReturn:
    """Refuse the result of a formula that is not one value, and one gradient where it has them, per instance."""
    shapes = [str(tuple(costs.shape[:1]))]
    if formula == "value_and_gradient":
        shapes.append(str(tuple(costs.shape)))
    parts = given if isinstance(given, tuple | list) else [given]
    got = [str(tuple(one.shape)) if isinstance(one, Tensor) else type(one).__name__ for one in parts]
    raise InputError(
        f"{type(loss).__name__}.{formula} must return one value per instance: expected "
        f"{'a tensor' if len(shapes) == 1 else 'tensors'} of shape {' and '.join(shapes)}, got {' and '.join(got)}"
    )
