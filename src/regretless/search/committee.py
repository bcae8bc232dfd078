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
    if len(members) == 1 and float(weights[0]) == 1.0:
        return members[0]
    if first is None:
        return Committee(members, weights)
    model = copy.deepcopy(members[0])
    view = find_linear(model)
    assert view is not None
    target = view.layer.weight
    weight, bias = torch.zeros_like(target, dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for w, member in zip(weights.to(torch.float64), views, strict=True):
        assert member is not None
        its_weight, its_bias = member.map()
        weight = weight + w * its_weight
        bias = bias.to(weight) + (0.0 if its_bias is None else w * its_bias)
    view.set(weight.to(target), bias.to(target))
    return model
