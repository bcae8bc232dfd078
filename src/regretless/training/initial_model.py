"""The model that a training starts with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.training.models import make_model
from regretless.training.random_draws import seeded_draws


def initial_model(
    model: nn.Module | Callable[[int], nn.Module] | None, data: Dataset, dimension: int, seed: int
) -> nn.Module:
    """Return the model that was given, or the default one.

    Args:
        model: a model, a function ``seed -> model``, or ``None`` for a linear model of standardized features.
        data: training data.
        dimension: number of costs.
        seed: of the initial weights, also those of a function that does not use it.

    Raises:
        InputError: it is something else.
    """
    if model is None:
        return make_model(data.features, dimension, costs=data.costs, seed=seed)
    refuse_class(model)
    made: Any = model
    if callable(model) and not isinstance(model, nn.Module):
        with seeded_draws(seed):
            made = model(seed)
    if not isinstance(made, nn.Module):
        what = f"a function that returned {made!r}" if callable(model) else repr(made)
        raise InputError(
            f"model must be a torch module, a function seed -> module, or None for a linear model, got {what}"
        )
    return made


def refuse_class(model: Any) -> None:
    """Refuse a class of modules, which would be called with the seed as if that were its first argument.

    Raises:
        InputError: says how to pass a module.
    """
    if isinstance(model, type) and issubclass(model, nn.Module):
        name = model.__name__
        raise InputError(f"model must be a torch module, got the class {name}: pass an object of it, {name}(...)")
