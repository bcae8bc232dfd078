"""``auto``: train without choosing a method, a learning rate or a number of epochs."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.number_checks import check_integer, check_number, check_numbers
from regretless.problem import Problem
from regretless.search.candidates import Candidate, candidates_of, default_candidates, make_grid
from regretless.search.committee import merge
from regretless.search.comparison import Comparison
from regretless.search.growth import LeaderGrowth
from regretless.search.scores import HeldOut
from regretless.search.verdict import Verdict
from regretless.training.evaluation import predict
from regretless.training.folds import make_folds, rest_of
from regretless.training.identity import digest_of
from regretless.training.initial_model import initial_model
from regretless.training.model_check import check_model
from regretless.training.stacked_fit import StackedRuns, fit_stacked
from regretless.training.stacked_linear import StackedLinear
from regretless.training.two_stage import fit_two_stage

FOLDS, BATCH, EPOCHS, LEAST_STEPS = 5, 24, 20, 400
COMMITTEE = 1 / 3
GROWTH = 1.0
STARTS = ("two-stage", "random")


@dataclass(frozen=True)
class CandidateScore:
    """How well a candidate did on the held-out folds.

    Attributes:
        name: of the candidate.
        epochs: number of epochs.
        regret: mean held-out regret by look-up; infinite where a run diverged.
        member: whether it belongs to the committee.
    """

    name: str
    epochs: int
    regret: float
    member: bool = False


@dataclass(frozen=True)
class AutoResult:
    """What a search found.

    Attributes:
        model: predicts costs: the committee, two-stage where nothing beats it, or an average of both where the gain is
            within its uncertainty.
        two_stage: the baseline, trained on all data.
        verdict: gain over two-stage on held-out folds.
        chosen: what the model is: ``"committee of k"``, the name of a single setting, ``"two-stage"``, or an average.
        scores: all candidates, best first.
        history: one row per epoch: best look-up regret, seconds, growth solves, cache size.
        solves: exact solves by purpose: growth and scoring.
        reason: why training ended.
        seconds: wall-clock time of the stacked training.
        cache: the shared cache.
    """

    model: nn.Module
    two_stage: nn.Module
    verdict: Verdict
    chosen: str
    scores: list[CandidateScore]
    history: list[dict[str, Any]]
    solves: dict[str, int]
    reason: str
    seconds: float
    cache: SolutionCache


def auto(
    problem: Problem,
    data: Dataset,
    model: nn.Module | Callable[[int], nn.Module] | None = None,
    *,
    seed: int = 0,
    folds: int = FOLDS,
    ordered: bool = False,
    methods: str | Sequence[str] | None = None,
    candidates: Sequence[Candidate] | None = None,
    epochs: int | None = None,
    batch_size: int = BATCH,
    growth: float = GROWTH,
    committee: int | None = None,
    start: str = "two-stage",
    fallback: bool = True,
    time_limit: float | None = None,
    max_solves: int | None = None,
    solutions: tuple[Tensor, Tensor | None] | None = None,
    checkpoint: Path | str | None = None,
    progress: bool | None = None,
) -> AutoResult:
    """Train many settings at once over one shared cache, and return a committee of the best, or two-stage.

    Solutions do not belong to a method: what one setting finds serves all others. Every setting is trained on every
    fold and on all data, as one batched model, from the two-stage weights. Settings are compared by look-ups on their
    held-out folds. The committee averages the models of all data and, where models are linear, those of the folds.
    Only the committee and the two-stage baseline are solved exactly on held-out folds: on a quarter of the instances,
    and on more of them while the difference is not clear.

    Args:
        problem: what is solved at the predictions.
        data: training data.
        model: a model, a function ``seed -> model``, or ``None`` for a linear model of standardized features.
        seed: of folds, shuffling, growth and initial weights.
        folds: number of folds.
        ordered: whether folds are consecutive blocks (time series) in place of random parts.
        methods: names of the methods to try, as a list or separated by commas; by default those of
            ``default_candidates``.
        candidates: settings to try, in place of ``methods``.
        epochs: passes over the data; by default 20, or more where these are fewer than 400 steps.
        batch_size: instances per step and run.
        growth: exact solves for the growth of the cache, per training instance.
        committee: number of members; by default a third of all settings. With 1, the result is the best single setting.
        start: ``"two-stage"`` weights, or ``"random"`` ones: those of the model as it is.
        fallback: whether two-stage is kept where nothing beats it, and takes part where the gain is not clear.
        time_limit: seconds after which training ends with the epoch.
        max_solves: largest number of growth solves.
        solutions: more first members of the cache, as in ``train``.
        checkpoint: file that stores the search after every epoch; an existing one is continued.
        progress: show bars; by default on a terminal.

    Raises:
        InputError: too few instances, or a setting that does not fit.
        SolveError: a solve failed and the problem has ``on_failure="raise"``.

    >>> problem = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
    >>> x = torch.linspace(-1, 1, 30)[:, None]
    >>> data = Dataset.solve(problem, x, torch.cat([x**3, -x, x], dim=1))
    >>> auto(problem, data, epochs=2).verdict.instances
    30
    """
    n = len(data)
    check_integer("folds", folds, least=2)
    check_numbers(seed=seed, batch_size=batch_size)
    check_number("growth", growth, least=0)
    for name, value, least in (("epochs", epochs, 1), ("committee", committee, 1), ("max_solves", max_solves, 0)):
        if value is not None:
            check_integer(name, value, least=least)
    if time_limit is not None:
        check_number("time_limit", time_limit, least=0)
    if n < 2 * folds:
        raise InputError(f"a search with {folds} folds needs at least {2 * folds} training instances, got {n}")
    if start not in STARTS:
        raise InputError(f"start must be one of {', '.join(STARTS)}, got {start!r}")
    steps = math.ceil(n / batch_size)
    epochs = max(EPOCHS, math.ceil(LEAST_STEPS / steps)) if epochs is None else epochs
    if candidates is None:
        every = steps * epochs
        if isinstance(methods, str):
            methods = [name.strip() for name in methods.split(",")]
        candidates = default_candidates(every) if methods is None else candidates_of(methods, every)
    if not candidates:
        raise InputError("a search needs at least one method or candidate, got none")
    made = initial_model(model, data, problem.dimension, seed)
    check_model(made, data.features, data.costs.shape[1])
    make = partial(copy.deepcopy, made)
    parts = make_folds(n, folds, seed=seed, ordered=ordered)
    streams = [*(rest_of(n, part) for part in parts), torch.arange(n)]
    fitted = [make() for _ in streams]
    for net, stream in zip(fitted, streams, strict=True):
        fit_two_stage(net, data[stream], seed=seed, ordered=ordered, progress=False)

    baseline = torch.zeros_like(data.costs)
    for part, net in zip(parts, fitted, strict=False):
        baseline[part] = predict(net, data.features[part]).to(torch.float64)
    cache = SolutionCache(problem, data.solutions, instance=data.instance, p_solve=0.0, seed=seed)
    if solutions is not None:
        cache.add(*solutions)
    held_out = HeldOut(cache, data, parts)
    scored = problem.statistics.count("scoring")
    comparison = Comparison(held_out, baseline, seed=seed)

    grid = make_grid(candidates, cache)
    observer = LeaderGrowth(
        cache, held_out, data.instance, solves=growth * n / (steps * epochs), seed=seed, time_limit=time_limit,
        max_solves=max_solves,
    )  # fmt: skip
    snapshots = sorted({max(1, epochs // 4), max(1, epochs // 2), epochs})
    identity = {
        "problem": problem.fingerprint, "data": digest_of(data), "seed": seed, "folds": folds, "ordered": ordered,
        "candidates": [candidate.name for candidate in candidates], "batch_size": batch_size, "epochs": epochs,
        "growth": growth, "start": start,
    }  # fmt: skip
    runs = fit_stacked(
        fitted if start == "two-stage" else [make() for _ in streams], grid.losses, grid.settings, data, streams,
        epochs=epochs, batch_size=batch_size, snapshots=snapshots, seed=seed, observer=observer, checkpoint=checkpoint,
        identity=identity, progress=progress,
    )  # fmt: skip
    ranked = _ranked(runs, held_out)
    # With known costs in the objective, predictions must keep the scale that the losses gave them.
    scale_free = not problem.has_known_costs
    members, predicted = _best_committee(ranked, committee, scale_free)
    verdict = comparison.verdict(predicted)
    final, chosen = fitted[-1], "two-stage"
    weight = 1.0 if not fallback else verdict.weight
    if members and weight > 0:
        models, weights = _weighted(members, runs, data, _streams(members, runs), scale_free)
        chosen = f"committee of {len(members)}" if len(members) > 1 else grid.candidates[members[0][1]].name
        if weight < 1:
            models, weights = [*models, fitted[-1]], torch.cat([weight * weights, weights.new_tensor([1 - weight])])
            chosen = f"{chosen} ({weight:.0%}) and two-stage ({1 - weight:.0%})"
        final = merge(models, weights)
    else:
        members = []
    scores = [
        CandidateScore(grid.candidates[s].name, epoch, regret, (epoch, s) in members)
        for (epoch, s), regret, _ in ranked
    ]
    growth_solves = sum(int(row["solves"]) for row in observer.rows)
    solves = {"growth": growth_solves, "scoring": problem.statistics.count("scoring") - scored}
    return AutoResult(
        final, fitted[-1], verdict, chosen, scores, observer.rows, solves, runs.reason, runs.seconds, cache
    )


Member = tuple[int, int]  # epochs, setting


def _ranked(runs: StackedRuns, held_out: HeldOut) -> list[tuple[Member, float, Tensor]]:
    """All settings after every snapshot, best held-out regret by look-up first, with their predictions."""
    found: list[tuple[Member, float, Tensor]] = []
    dropped = runs.diverged.any(dim=0).cpu()
    for epoch, parameters in runs.snapshots.items():
        for s, predicted in enumerate(held_out.predict(runs.models, parameters)):
            regret = math.inf if bool(dropped[s]) else float(held_out.regrets(predicted).mean())
            found.append(((epoch, s), regret, predicted))
    return sorted(found, key=lambda one: one[1])


def _best_committee(
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
    average = torch.stack([_scaled(predicted, scale_free) for _, _, predicted in best]).mean(dim=0)
    return [member for member, _, _ in best], average


def _scaled(predicted: Tensor, scale_free: bool) -> Tensor:
    """Predictions in units of their own deviation, since the losses leave the scale of the costs free."""
    deviation = predicted.std(correction=0)
    return predicted / deviation if scale_free and float(deviation) > 0 else predicted


def _streams(members: list[Member], runs: StackedRuns) -> Sequence[int]:
    """Streams whose models take part; the last one has all data.

    The models of the folds differ a little from those of all data, so an average of all varies less. A committee of
    linear models is one linear model, whatever their number is; other models would make it several times slower.
    """
    last = len(runs.diverged) - 1
    return range(last + 1) if len(members) > 1 and isinstance(runs.models, StackedLinear) else [last]


def _weighted(
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
