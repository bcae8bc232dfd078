"""How copies of a model are stacked."""

from __future__ import annotations

from torch import Tensor, nn

from regretless.training.linear_model import find_linear
from regretless.training.stacked_linear import StackedLinear
from regretless.training.stacked_models import StackedModels
from regretless.training.stacked_modules import StackedModules


def stack_models(models: list[nn.Module], features: Tensor, costs: Tensor, settings: int) -> StackedModels:
    """Stack ``settings`` copies of each model: linear ones by products, others by ``torch.func``."""
    if find_linear(models[0]) is not None:
        return StackedLinear(models, features, costs, settings)
    return StackedModules(models, features, settings)
