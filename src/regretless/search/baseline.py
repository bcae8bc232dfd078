"""The two-stage models of a search: what it starts from, and what it is compared with."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regretless.search.scores import HeldOut
from regretless.training.evaluation import predict
from regretless.training.model_terms import Terms, with_terms
from regretless.training.two_stage import fit_two_stage


@dataclass(frozen=True)
class Baseline:
    """Two-stage fits of every stream.

    Attributes:
        model: the two-stage model of all data, of the form with the smallest held-out regret by look-up. The form with
            the smallest error may have a larger regret.
        predicted: its predictions ``(n, d)`` for held-out instances, each by the fit that left it out.
        starts: per stream the fits of all forms, each in the shape of the largest form.
        chosen: which form is the baseline.
    """

    model: nn.Module
    predicted: Tensor
    starts: list[list[nn.Module]]
    chosen: int


def fit_baseline(
    model: nn.Module,
    held_out: HeldOut,
    streams: Sequence[Tensor],
    *,
    forms: Sequence[Terms],
    seed: int,
    ordered: bool,
) -> Baseline:
    """Fit two-stage models on every stream.

    Args:
        model: the initial model, which is not changed.
        held_out: the training data and its folds.
        streams: training positions: one per fold, and all data.
        forms: terms that the models have beside their features; ``[()]`` for the model as it is.
        seed: of folds within the streams, and shuffling.
        ordered: whether these folds are consecutive blocks.
    """
    data = held_out.data
    every = {name for form in forms for name in form}
    fits: list[list[nn.Module]] = []
    predictions: list[Tensor] = []
    for form in forms:
        first = with_terms(model, data.features, form) if form else model
        fitted = [copy.deepcopy(first) for _ in streams]
        predicted = torch.zeros_like(data.costs)
        for net, stream in zip(fitted, streams, strict=True):
            fit_two_stage(net, data[stream], seed=seed, ordered=ordered, progress=False)
        for part, net in zip(held_out.folds, fitted, strict=False):
            predicted[part] = predict(net, data.features[part]).to(torch.float64)
        fits.append(fitted)
        predictions.append(predicted)
    chosen = 0
    if len(forms) > 1:
        regrets = [float(held_out.regrets(predicted).mean()) for predicted in predictions]
        chosen = regrets.index(min(regrets))
    best = fits[chosen][-1]
    if every:
        fits = [[with_terms(net, data.features, every) for net in nets] for nets in fits]
    return Baseline(best, predictions[chosen], [list(nets) for nets in zip(*fits, strict=True)], chosen)
