"""Which settings a committee has, and with what weights."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from regretless.data import Dataset
from regretless.search.scores import HeldOut
from regretless.training.evaluation import predict
from regretless.training.stacked_fit import StackedRuns
from regretless.training.stacked_linear import StackedLinear

COMMITTEE = 1 / 3

Member = tuple[int, int]  # epochs, setting


def ranked(runs: StackedRuns, held_out: HeldOut) -> list[tuple[Member, float, Tensor]]:
    """All settings after every snapshot, best held-out regret by look-up first, with their predictions."""
    found: list[tuple[Member, float, Tensor]] = []
    dropped = runs.diverged.any(dim=0).cpu()
    for epoch, parameters in runs.snapshots.items():
        for s, predicted in enumerate(held_out.predict(runs.models, parameters)):
            regret = math.inf if bool(dropped[s]) else float(held_out.regrets(predicted).mean())
            found.append(((epoch, s), regret, predicted))
    return sorted(found, key=lambda one: one[1])


def best_committee(
    ranked: list[tuple[Member, float, Tensor]], size: int | None, scale_free: bool
) -> tuple[list[Member], Tensor]:
    """The best third of all settings and epochs by look-up, and the average of their held-out predictions.

    Differences between good settings are smaller than what a few hundred held-out instances can tell apart, and an
    average of many varies less than the best one.
    """
    finite = [one for one in ranked if math.isfinite(one[1])]
    if not finite:
        return [], torch.zeros_like(ranked[0][2])
    best = finite[: size or max(1, round(len(ranked) * COMMITTEE))]
    average = torch.stack([scaled(predicted, scale_free) for _, _, predicted in best]).mean(dim=0)
    return [member for member, _, _ in best], average


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
