"""Models that are one linear layer, between fixed scalings of features and costs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regretless.training.models import SharedLinear, Standardized
from regretless.training.scaling import CostScale
from regretless.training.terms import Intercepts, QuadraticTerms, SplineTerms


@dataclass(frozen=True)
class LinearModel:
    """The one layer of a linear model, and how features and costs are scaled around it.

    Attributes:
        layer: the linear layer.
        shared: whether one layer with one output serves all costs: ``(n, d, k) -> (n, d)``; else ``(n, k) -> (n, d)``.
        features: scaling of the features, or ``None``.
        costs: scaling of the costs, or ``None``.
        products: squares and products that the layer sees beside the features, or ``None``.
        splines: piecewise linear functions that the layer sees beside the features, or ``None``.
        intercepts: constants of the variables beside a shared layer, or ``None``.
    """

    layer: nn.Linear
    shared: bool
    features: Standardized | None = None
    costs: CostScale | None = None
    products: QuadraticTerms | None = None
    splines: SplineTerms | None = None
    intercepts: Intercepts | None = None

    def inputs(self, x: Tensor) -> Tensor:
        """What the layer sees of features ``x``: ``(n, k)``, or ``(n, d, k)`` where it is shared."""
        if self.shared and x.ndim != 3:  # ``nn.Flatten`` behind the layer takes features of any shape
            x = x[:, None] if x.ndim == 2 else x.flatten(1, -2)
        scaled = x if self.features is None else self.features.scaled(x)
        for part in (self.products, self.splines):
            scaled = scaled if part is None else part(scaled)
        return scaled

    @property
    def plain_inputs(self) -> int:
        """Number of the layer's inputs without terms; they come first."""
        return self.layer.in_features - sum(self._widths.values())

    @property
    def columns(self) -> dict[str, slice]:
        """Which inputs of the layer belong to which terms."""
        widths = self._widths
        ends = itertools.accumulate(widths.values(), initial=self.plain_inputs)
        return {name: slice(end, end + width) for (name, width), end in zip(widths.items(), ends, strict=False)}

    @property
    def _widths(self) -> dict[str, int]:
        """Numbers of the layer's inputs that are terms, in their order."""
        found = {}
        if self.products is not None:
            found["products"] = self.products.width - self.products.features
        if self.splines is not None:
            found["splines"] = self.splines.width
        return found

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of what the model has beside the layer of the features; see ``model_terms``."""
        there = {"products": self.products, "splines": self.splines, "intercepts": self.intercepts}
        return tuple(name for name, module in there.items() if module is not None)

    @property
    def offset(self) -> Tensor | float:
        """Predicted costs at an output of zero."""
        return 0.0 if self.costs is None else self.costs.mean

    @property
    def scale(self) -> Tensor | float:
        """Predicted costs per unit of the output."""
        return 1.0 if self.costs is None else self.costs.scale

    @property
    def has_bias(self) -> bool:
        """Whether the map has a constant that is trained."""
        return self.intercepts is not None or self.layer.bias is not None

    @torch.no_grad()
    def map(self) -> tuple[Tensor, Tensor | None]:
        """Weight ``(out, k)`` and bias of the map from the layer's inputs to costs, in float64; see ``set``."""
        weight = self.layer.weight.to(torch.float64) * self.scale
        if not self.has_bias:
            return weight, None
        constant = torch.zeros((), dtype=torch.float64, device=weight.device)
        for part in (self.layer.bias, None if self.intercepts is None else self.intercepts.intercepts):
            constant = constant if part is None else constant + part.to(torch.float64) * self.scale
        return weight, constant + self._offset

    @torch.no_grad()
    def set(self, weight: Tensor, bias: Tensor | None) -> None:
        """Set the layer from a linear map of its inputs to costs: ``costs = inputs @ weight.T + bias``.

        Args:
            weight: ``(out, k)``.
            bias: ``(out,)``; ``(d,)`` for a model with intercepts; one without a constant has no use for it.
        """
        self.layer.weight.copy_(weight / self.scale)
        if bias is None or not self.has_bias:
            return
        constant = (bias - self._offset) / self.scale
        if self.intercepts is not None:
            common = constant.mean() if self.layer.bias is not None else torch.zeros_like(constant[0])
            self.intercepts.intercepts.copy_(constant - common)
            constant = common.expand(1)
        if self.layer.bias is not None:
            self.layer.bias.copy_(constant)

    @property
    def _offset(self) -> Tensor | float:
        """The offset in the shape of a bias: one number is repeated for all costs of a shared layer."""
        one = self.shared and self.intercepts is None and isinstance(self.offset, Tensor)
        return self.offset[:1] if one else self.offset  # type: ignore[index]


def find_linear(model: nn.Module) -> LinearModel | None:
    """Return the linear view of a model, or ``None`` where it is not linear, partly frozen, or not of a known form."""
    costs = features = products = splines = intercepts = None
    inner = model
    if type(inner) is CostScale:
        costs, inner = inner, inner.inner
    if type(inner) is Standardized:
        features, inner = inner, inner.inner
    layers = list(inner) if type(inner) is nn.Sequential else [inner]
    if layers and isinstance(layers[0], QuadraticTerms):
        products, layers = layers[0], layers[1:]
    if layers and isinstance(layers[0], SplineTerms):
        splines, layers = layers[0], layers[1:]
    if layers and isinstance(layers[-1], Intercepts):
        intercepts, layers = layers[-1], layers[:-1]
    shared = len(layers) == 2 and _flattens(layers[1])
    if len(layers) != 1 + shared:
        return None
    layer = layers[0]
    if type(layer) is SharedLinear:
        shared, layer = True, layer.linear
    if type(layer) is not nn.Linear or (shared and layer.out_features != 1) or (intercepts and not shared):
        return None
    view = LinearModel(layer, shared, features, costs, products, splines, intercepts)
    if costs is not None and not view.has_bias:
        return None  # the mean of the costs is a constant that no weight can change
    return view if all(parameter.requires_grad for parameter in model.parameters()) else None


def _flattens(module: nn.Module) -> bool:
    return type(module) is nn.Flatten and (module.start_dim, module.end_dim) == (1, -1)
