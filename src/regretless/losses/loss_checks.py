"""What a loss refuses: oracles and predictions that it cannot use, and results of formulas of another shape."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from torch import Tensor

from regretless.arrays import Array
from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.oracle import Oracle
from regretless.problem import Problem


def needs_tensor(predicted: Any) -> Tensor:
    """Return the prediction; anything that torch cannot differentiate is refused."""
    if not isinstance(predicted, Tensor):
        raise InputError(f"predicted must be a tensor, the output of a model, got {type(predicted).__name__}")
    return predicted


def needs_oracle(loss: str, oracle: Any) -> Oracle:
    """Return the oracle; anything that cannot answer costs with solutions of a problem is refused."""
    if not isinstance(getattr(oracle, "problem", None), Problem) or not hasattr(oracle, "answer"):
        raise InputError(
            f"{loss} needs an oracle, a Problem or a SolutionCache, got "
            f"{'none' if oracle is None else type(oracle).__name__}: build it as {loss}(problem)"
        )
    found: Oracle = oracle
    return found


def needs_cache(loss: str, oracle: object) -> SolutionCache:
    """Return the oracle as a cache, for losses that use S itself."""
    if not isinstance(oracle, SolutionCache):
        raise InputError(
            f"{loss} needs a SolutionCache, got {type(oracle).__name__}: wrap it in SolutionCache(problem)"
        )
    return oracle


def refuse_result(loss: object, formula: str, costs: Tensor | Array, given: Any) -> NoReturn:
    """Refuse the result of a formula that is not one value, and one gradient where it has them, per instance."""
    shapes = [str(tuple(costs.shape[:1]))]
    if formula == "value_and_gradient":
        shapes.append(str(tuple(costs.shape)))
    parts = given if isinstance(given, tuple | list) else [given]
    got = [str(tuple(one.shape)) if isinstance(one, Tensor | np.ndarray) else type(one).__name__ for one in parts]
    raise InputError(
        f"{type(loss).__name__}.{formula} must return one value per instance: expected "
        f"{'a tensor' if len(shapes) == 1 else 'tensors'} of shape {' and '.join(shapes)}, got {' and '.join(got)}"
    )
