"""A quadratic model in place of a linear one."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from regretless.errors import InputError
from regretless.training.cost_scale import CostScale
from regretless.training.linear_model import find_linear
from regretless.training.models import Standardized
from regretless.training.quadratic_terms import QuadraticTerms


def with_quadratic_terms(model: nn.Module, features: Tensor) -> nn.Module:
    """Return a copy of a linear model that also takes squares and products of its features, with weights of zero.

    Args:
        model: a linear model, which is not changed.
        features: ``(n, ..., k)`` training features.

    Raises:
        InputError: the model is not linear, or has such terms.
    """
    view = find_linear(model)
    if view is None or view.terms is not None:
        raise InputError("quadratic terms are added to linear models only: leave out quadratic, or give a linear model")
    layer = view.layer
    terms = QuadraticTerms(view.inputs(features.to(layer.weight)).detach().cpu()).to(layer.weight)
    # A layer without data draws no initial weights from the global generator.
    empty = nn.Linear(terms.width, layer.out_features, bias=layer.bias is not None, device="meta")
    wide = empty.to_empty(device="cpu").to(layer.weight)
    with torch.no_grad():
        wide.weight.zero_()
        wide.weight[:, : layer.in_features] = layer.weight
        if layer.bias is not None:
            wide.bias.copy_(layer.bias)
    quadratic = nn.Sequential(terms, wide, *([nn.Flatten()] if view.shared else []))
    if view.features is None and view.costs is None:
        return quadratic
    made = copy.deepcopy(model)
    outer = made.inner if isinstance(made, CostScale) and view.features is not None else made
    assert isinstance(outer, CostScale | Standardized)
    outer.inner = quadratic
    return made
