"""The two-stage models of a search: what it starts from, what it is compared with, and how much each form counts."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regretless.progress import track
from regretless.search.committee import merge
from regretless.search.scores import HeldOut
from regretless.search.verdict import FULL_WEIGHT, first_rows
from regretless.training.evaluation import predict
from regretless.training.model_terms import Terms, with_terms
from regretless.training.two_stage import fit_two_stage


def weights_of(looked_up: Tensor, exact: Tensor, rows: Tensor) -> Tensor:
    """Weights ``(forms,)`` of an average of forms.

    The regret of a form is estimated by look-ups on all instances, plus the mean of what look-ups are wrong by on those
    that were solved. The weight falls from that of the best form to zero where the difference from it reaches two
    standard errors: what is within its uncertainty is partly chance, and an average of good models is often better than
    each of them. The two parts of the estimate count as independent.

    Args:
        looked_up: ``(forms, n)`` regrets by look-up.
        exact: ``(forms, m)`` regrets of the instances ``rows``; NaN where a solve failed, which leaves an instance out.
        rows: ``(m,)`` positions.
    """
    known = ~torch.isnan(exact).any(dim=0)
    wrong = exact[:, known] - looked_up[:, rows[known]]
    if wrong.shape[1] < 2:  # nothing is known about the look-ups
        wrong = torch.zeros(len(exact), 2, dtype=torch.float64)
    regret = looked_up.mean(dim=1) + wrong.mean(dim=1)
    best = int(regret.argmin())
    worse = regret - regret[best]
    error = (_squared_error(looked_up - looked_up[best]) + _squared_error(wrong - wrong[best])).sqrt()
    weights = torch.where(worse > 0, 1.0 - worse / (FULL_WEIGHT * error), 1.0).clamp(min=0.0)
    return weights / weights.sum()


def _squared_error(differences: Tensor) -> Tensor:
    """Of the mean of each row of ``(forms, m)``."""
    return differences.var(dim=1) / differences.shape[1]


@dataclass(frozen=True)
class Baseline:
    """Two-stage fits of every stream.

    Attributes:
        model: the two-stage model of all data: the form with the smallest held-out regret, or an average of forms.
        predicted: its predictions ``(n, d)`` for held-out instances, each by the fits that left it out.
        starts: per stream the fits of all forms, each in the shape of the largest form.
        widest: ``model`` in the shape of the largest form.
    """

    model: nn.Module
    predicted: Tensor
    starts: list[list[nn.Module]]
    widest: nn.Module


def fit_baseline(
    model: nn.Module, held_out: HeldOut, streams: Sequence[Tensor], *, forms: Sequence[Terms], seed: int, ordered: bool
) -> Baseline:
    """Fit two-stage models on every stream.

    The forms are compared by held-out regret, and not by error: the form with the smallest error may have a larger
    regret. Look-ups alone would not do: the cache holds true optima only, so that a form is scored as if it could not
    take any other decision. Exact solves of some instances correct them.

    Args:
        model: the initial model, which is not changed.
        held_out: the training data and its folds.
        streams: training positions: one per fold, and all data.
        forms: terms that the models have beside their features; ``[()]`` for the model as it is.
        seed: of folds within the streams, shuffling, and the choice of instances.
        ordered: whether these folds are consecutive blocks.
    """
    data = held_out.data
    every = {name for form in forms for name in form}
    first = [with_terms(model, data.features, form) if form else model for form in forms]
    fits = [[copy.deepcopy(net) for _ in streams] for net in first]
    jobs = [(net, stream) for nets in fits for net, stream in zip(nets, streams, strict=True)]
    for net, stream in track(jobs, total=len(jobs), label="two-stage fits", show=held_out.progress):
        fit_two_stage(net, data[stream], seed=seed, ordered=ordered, progress=False)
    predictions = [torch.zeros_like(data.costs) for _ in forms]
    for predicted, nets in zip(predictions, fits, strict=True):
        for part, net in zip(held_out.folds, nets, strict=False):
            predicted[part] = predict(net, data.features[part]).to(torch.float64)
    wide = [[with_terms(net, data.features, every) for net in nets] for nets in fits] if every else fits
    starts = [list(nets) for nets in zip(*wide, strict=True)]
    weights = torch.zeros(len(forms), dtype=torch.float64)
    compared = [k for k, predicted in enumerate(predictions) if bool(torch.isfinite(predicted).all())] or [0]
    weights[compared] = 1.0
    if len(compared) > 1:
        rows = first_rows(len(data), seed)
        looked_up = torch.stack([held_out.regrets(predictions[k]) for k in compared])
        exact = torch.stack([held_out.exact(predictions[k], rows) for k in compared])
        weights[compared] = weights_of(looked_up, exact, rows)
    taken = weights.nonzero()[:, 0].tolist()
    averaged = torch.stack([weights[k] * predictions[k] for k in taken]).sum(dim=0)
    widest = merge([starts[-1][k] for k in taken], weights[taken])
    return Baseline(fits[taken[0]][-1] if len(taken) == 1 else widest, averaged, starts, widest)
