"""How copies of a model are stacked."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from regretless.errors import InputError
from regretless.training.linear_model import find_linear
from regretless.training.stacked_linear import StackedLinear
from regretless.training.stacked_models import Setting, StackedModels
from regretless.training.stacked_modules import StackedModules


def stack_models(
    models: Sequence[nn.Module | Sequence[nn.Module]],
    features: Tensor,
    costs: Tensor,
    settings: Sequence[Setting],
) -> StackedModels:
    """Stack a copy of each stream's model per setting: linear ones by products, others by ``torch.func``.

    Args:
        models: one per stream, or several per stream, of which each setting names its start.
        features: ``(n, ...)`` of all instances.
        costs: ``(n, d)``, for their scale.
        settings: one copy each.

    Raises:
        InputError: a setting uses some terms only, and the models are not linear.
    """
    nested = [[model] if isinstance(model, nn.Module) else list(model) for model in models]
    starts, terms = [setting.start for setting in settings], [setting.terms for setting in settings]
    if find_linear(nested[0][0]) is not None:
        return StackedLinear(nested, features, costs, starts, terms)
    if any(used is not None for used in terms):
        raise InputError("a setting that uses some of the terms needs a linear model")
    return StackedModules(nested, features, starts)
