"""The model that a training starts with, and checks of it before anything is solved or trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.training.evaluation import predict
from regretless.training.models import make_model
from regretless.training.random_draws import seeded_draws


def trained_parameters(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that are not frozen.

    Raises:
        InputError: there is none, or torch cannot compute gradients of them.
    """
    if torch.is_inference_mode_enabled():
        raise InputError(
            "torch.inference_mode() turns off the gradients that training needs: train outside of its block"
        )
    found = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not found:
        frozen = next(model.parameters(), None) is not None
        why = ": all of them are frozen (requires_grad=False)" if frozen else ""
        raise InputError(f"the model {type(model).__name__} has no parameters to train{why}")
    if any(parameter.is_inference() for parameter in found):
        raise InputError(
            f"the model {type(model).__name__} was created under torch.inference_mode(), so torch computes no "
            "gradients of its parameters: create it outside of that block, or train a copy.deepcopy of it"
        )
    return found


def fewest_instances(model: nn.Module) -> int:
    """How many instances a step needs: batch normalization has no deviation of a single one."""
    return 2 if any(isinstance(part, nn.modules.batchnorm._BatchNorm) for part in model.modules()) else 1


def check_device(device: torch.device) -> None:
    """Refuse a device without double precision, in which solutions are added up and compared."""
    if device.type == "mps":
        raise InputError("Apple's GPU (mps) has no double precision: move the model to the CPU with model.cpu()")


def check_model(model: nn.Module, features: Tensor, dimension: int) -> None:
    """Refuse a model that has nothing to train, cannot take the features, or predicts another number of costs.

    Args:
        model: the user's.
        features: ``(n, ...)``, of which two instances are tried.
        dimension: number of costs.
    """
    check_device(trained_parameters(model)[0].device)
    name, some = type(model).__name__, features[:2]
    predicted = predict(model, some)
    if predicted.shape != (len(some), dimension):
        raise InputError(
            f"the model {name} must predict {dimension} costs per instance: for {len(some)} instances it must return "
            f"shape {(len(some), dimension)}, got {tuple(predicted.shape)}"
        )


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
    """Refuse a class of modules, which would be called with the seed as if that were its first argument."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        name = model.__name__
        raise InputError(f"model must be a torch module, got the class {name}: pass an object of it, {name}(...)")
