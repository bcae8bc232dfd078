"""A committee: several models whose predictions are averaged, as one ordinary model."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from regretless.errors import InputError
from regretless.training.linear_model import find_linear


@final
class Committee(nn.Module):
    r"""Weighted sum of the predictions of several models.

    .. math:: \hat c = \sum_k w_k m_k(x)

    Args:
        members: models that map features to ``(batch, d)`` costs.
        weights: ``(members,)``.
    """

    weights: Tensor

    def __init__(self, members: Sequence[nn.Module], weights: Tensor) -> None:
        super().__init__()
        if not len(members) or len(members) != len(weights):
            raise InputError(f"a committee needs one weight per member, got {len(weights)} and {len(members)}")
        self.members = nn.ModuleList(members)
        self.register_buffer("weights", weights.to(torch.get_default_dtype()))

    def forward(self, x: Tensor) -> Tensor:
        """Predict costs."""
        predicted: Tensor = sum(w * member(x) for w, member in zip(self.weights, self.members, strict=True))
        return predicted


def merge(members: Sequence[nn.Module], weights: Tensor) -> nn.Module:
    """One model for a committee: for linear members again one linear model, else a ``Committee``."""
    views = [find_linear(member) for member in members]
    first = views[0]
    if first is None or (len(members) == 1 and float(weights[0]) == 1.0):
        return members[0] if len(members) == 1 and float(weights[0]) == 1.0 else Committee(members, weights)
    model = copy.deepcopy(members[0])
    view = find_linear(model)
    assert view is not None
    layer = view.layer
    weight = torch.zeros_like(layer.weight, dtype=torch.float64)
    bias = layer.weight.new_zeros(layer.out_features, dtype=torch.float64)
    with torch.no_grad():
        for w, member in zip(weights.to(torch.float64), views, strict=True):
            assert member is not None
            weight += w * member.layer.weight.to(torch.float64) * member.scale
            if member.layer.bias is not None:
                offset = member.offset[:1] if member.shared and isinstance(member.offset, Tensor) else member.offset
                bias += w * (member.layer.bias.to(torch.float64) * member.scale + offset)
    view.set(weight.to(layer.weight), bias.to(layer.weight) if layer.bias is not None else None)
    return model
