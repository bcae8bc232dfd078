"""Models that are one linear layer, between fixed scalings of features and costs."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regretless.training.cost_scale import CostScale
from regretless.training.models import SharedLinear, Standardized
from regretless.training.quadratic_terms import QuadraticTerms


@dataclass(frozen=True)
class LinearModel:
    """The one layer of a linear model, and how features and costs are scaled around it.

    Attributes:
        layer: the linear layer.
        shared: whether one layer with one output serves all costs: ``(n, d, k) -> (n, d)``; else ``(n, k) -> (n, d)``.
        features: scaling of the features, or ``None``.
        costs: scaling of the costs, or ``None``.
        terms: squares and products that the layer sees beside the features, or ``None``.
    """

    layer: nn.Linear
    shared: bool
    features: Standardized | None = None
    costs: CostScale | None = None
    terms: QuadraticTerms | None = None

    def inputs(self, x: Tensor) -> Tensor:
        """What the layer sees of features ``x``."""
        scaled = x if self.features is None else self.features.scaled(x)
        return scaled if self.terms is None else self.terms(scaled)

    @property
    def offset(self) -> Tensor | float:
        """Predicted costs at an output of zero."""
        return 0.0 if self.costs is None else self.costs.mean

    @property
    def scale(self) -> Tensor | float:
        """Predicted costs per unit of the output."""
        return 1.0 if self.costs is None else self.costs.scale

    @torch.no_grad()
    def set(self, weight: Tensor, bias: Tensor | None) -> None:
        """Set the layer from a linear map of its inputs to costs: ``costs = inputs @ weight.T + bias``.

        Args:
            weight: ``(out, k)``.
            bias: ``(out,)``, or ``None`` for a layer without one.
        """
        self.layer.weight.copy_(weight / self.scale)
        if self.layer.bias is not None and bias is not None:
            offset = self.offset
            if self.shared and isinstance(offset, Tensor):
                offset = offset[:1]  # one number, repeated for all costs
            self.layer.bias.copy_((bias - offset) / self.scale)


def find_linear(model: nn.Module) -> LinearModel | None:
    """Return the linear view of a model, or ``None`` where it is not linear, partly frozen, or not of a known form."""
    costs = features = terms = None
    inner = model
    if type(inner) is CostScale:
        costs, inner = inner, inner.inner
    if type(inner) is Standardized:
        features, inner = inner, inner.inner
    layers = list(inner) if type(inner) is nn.Sequential else [inner]
    if layers and isinstance(layers[0], QuadraticTerms):
        terms, layers = layers[0], layers[1:]
    shared = len(layers) == 2 and _flattens(layers[1])
    if len(layers) == 1 + shared:
        layer = layers[0]
    else:
        return None
    if type(layer) is SharedLinear:
        shared, layer = True, layer.linear
    if type(layer) is not nn.Linear or (shared and layer.out_features != 1):
        return None
    if not all(parameter.requires_grad for parameter in layer.parameters()):
        return None
    return LinearModel(layer, shared, features, costs, terms)


def _flattens(module: nn.Module) -> bool:
    return type(module) is nn.Flatten and (module.start_dim, module.end_dim) == (1, -1)
