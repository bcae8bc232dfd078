"""A committee: which settings it has, with what weights, and how their average is one ordinary model."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import final

import torch
from torch import Tensor, nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.search.scores import HeldOut
from regretless.training.evaluation import predict
from regretless.training.folds import rest_of
from regretless.training.linear_model import find_linear
from regretless.training.stacked_fit import StackedRuns
from regretless.training.stacked_linear import StackedLinear

COMMITTEE = 1 / 3
Member = tuple[int, int]  # epochs, setting


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


def look_up_regrets(runs: StackedRuns, held_out: HeldOut) -> dict[Member, Tensor]:
    """Held-out regrets ``(n,)`` of all settings after every snapshot, by look-up; infinite where a run diverged."""
    dropped = runs.diverged.any(dim=0).cpu()
    return {
        (epoch, s): torch.full_like(regrets, torch.inf) if bool(dropped[s]) else regrets
        for epoch, parameters in runs.snapshots.items()
        for s, regrets in enumerate(held_out.look_up(runs.models, parameters))
    }


def ranked(regrets: Mapping[Member, Tensor], rows: Tensor | None = None) -> list[tuple[Member, float]]:
    """All settings with the mean of their regrets over some instances, or all of them, the best first."""
    found = [(member, float((of if rows is None else of[rows]).mean())) for member, of in regrets.items()]
    return sorted(found, key=lambda one: one[1])


def best_members(ranked: list[tuple[Member, float]], size: int | None) -> list[Member]:
    """The best third of all settings and epochs, or ``size`` of them; none where all diverged.

    Differences between good settings are smaller than what a few hundred held-out instances can tell apart, and an
    average of many varies less than the best one.
    """
    finite = [member for member, regret in ranked if math.isfinite(regret)]
    return finite[: size or max(1, round(len(ranked) * COMMITTEE))]


def held_out_average(
    regrets: Mapping[Member, Tensor], size: int | None, runs: StackedRuns, held_out: HeldOut, scale_free: bool
) -> Tensor:
    """Held-out predictions ``(n, d)`` of committees of ``size``, whose members are chosen on the other folds.

    Chosen on the instances that they are then compared on, they would be better there than on new ones.
    """
    n = len(held_out.data.costs)
    chosen = [best_members(ranked(regrets, rest_of(n, fold)), size) for fold in held_out.folds]
    average = torch.zeros_like(held_out.data.costs)
    for epoch, parameters in runs.snapshots.items():
        for s, predicted in enumerate(held_out.predict(runs.models, parameters)):
            folds = [k for k, members in enumerate(chosen) if (epoch, s) in members]
            its = scaled(predicted.to(torch.float64), scale_free) if folds else average
            for k in folds:
                average[held_out.folds[k]] += its[held_out.folds[k]] / len(chosen[k])
    return average


def scaled(predicted: Tensor, scale_free: bool) -> Tensor:
    """Predictions in units of their own deviation, since the losses leave the scale of the costs free."""
    deviation = predicted.std(correction=0)
    return predicted / deviation if scale_free and float(deviation) > 0 else predicted


def streams_of(members: list[Member], runs: StackedRuns) -> Sequence[int]:
    """Streams whose models take part; the last one has all data.

    The models of the folds differ a little from those of all data, so an average of all varies less. A committee of
    linear models is one linear model, whatever their number is; other models would make it several times slower.
    """
    last = len(runs.diverged) - 1
    return range(last + 1) if len(members) > 1 and isinstance(runs.models, StackedLinear) else [last]


def weighted(
    members: list[Member], runs: StackedRuns, data: Dataset, streams: Sequence[int], scale_free: bool
) -> tuple[list[nn.Module], Tensor]:
    """The models of the members, and the weights of their average in the units of the costs."""
    models = [runs.models.export(runs.snapshots[epoch], f, s) for f in streams for epoch, s in members]
    weights = torch.full((len(models),), 1.0 / len(models), dtype=torch.float64)
    if scale_free:
        deviations = [float(predict(model, data.features).to(torch.float64).std(correction=0)) for model in models]
        spread = float(data.costs.std(correction=0)) or 1.0
        weights *= torch.tensor([spread / deviation if deviation > 0 else 1.0 for deviation in deviations])
    return models, weights
