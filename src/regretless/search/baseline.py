"""The two-stage models of a search: what it starts from, and what it is compared with."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regretless.search.scores import HeldOut
from regretless.training.evaluation import predict
from regretless.training.linear_model import find_linear
from regretless.training.quadratic_model import with_quadratic_terms
from regretless.training.quadratic_terms import count_terms
from regretless.training.two_stage import fit_two_stage

# A stack holds some thousand copies of the weights: parameters, moments and snapshots of all settings and streams.
LARGEST = 50_000


@dataclass(frozen=True)
class Baseline:
    """Two-stage fits of every stream.

    Attributes:
        model: the two-stage model of all data: linear or quadratic, whichever has the smaller held-out regret by
            look-up. A quadratic model may have the smaller error and the larger regret.
        predicted: its predictions ``(n, d)`` for held-out instances, each by the fit that left it out.
        starts: per stream the fits: linear, and quadratic where it is tried; of one shape.
        chosen: which of them is the baseline.
        inputs: features that a linear model uses of the inputs of a quadratic one; ``None`` where there is no such.
    """

    model: nn.Module
    predicted: Tensor
    starts: list[list[nn.Module]]
    chosen: int
    inputs: int | None


def fit_baseline(
    model: nn.Module,
    held_out: HeldOut,
    streams: Sequence[Tensor],
    *,
    quadratic: bool,
    seed: int,
    ordered: bool,
) -> Baseline:
    """Fit two-stage models on every stream.

    Args:
        model: the initial model, which is not changed.
        held_out: the training data and its folds.
        streams: training positions: one per fold, and all data.
        quadratic: whether squares and products of the features are tried as well; for linear models.
        seed: of folds within the streams, and shuffling.
        ordered: whether these folds are consecutive blocks.
    """
    data = held_out.data
    kinds = [model, *([with_quadratic_terms(model, data.features)] if quadratic else [])]
    fits: list[list[nn.Module]] = []
    predictions: list[Tensor] = []
    for kind in kinds:
        fitted = [copy.deepcopy(kind) for _ in streams]
        predicted = torch.zeros_like(data.costs)
        for net, stream in zip(fitted, streams, strict=True):
            fit_two_stage(net, data[stream], seed=seed, ordered=ordered, progress=False)
        for part, net in zip(held_out.folds, fitted, strict=False):
            predicted[part] = predict(net, data.features[part]).to(torch.float64)
        fits.append(fitted)
        predictions.append(predicted)
    chosen = 0
    if quadratic:
        regrets = [float(held_out.regrets(predicted).mean()) for predicted in predictions]
        chosen = regrets.index(min(regrets))
    best, inputs = fits[chosen][-1], None
    if quadratic:
        view = find_linear(model)
        assert view is not None
        inputs = view.layer.in_features
        fits[0] = [with_quadratic_terms(net, data.features) for net in fits[0]]
    return Baseline(best, predictions[chosen], [list(nets) for nets in zip(*fits, strict=True)], chosen, inputs)


def quadratic_fits(model: nn.Module) -> bool:
    """Whether squares and products can be tried: for linear models of moderate size."""
    view = find_linear(model)
    if view is None or view.terms is not None:
        return False
    return view.layer.out_features * count_terms(view.layer.in_features) <= LARGEST
