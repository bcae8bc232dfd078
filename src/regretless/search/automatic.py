"""``auto``: train without choosing a method, a learning rate or a number of epochs."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regretless.begun_solves import beside
from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError, RegretlessWarning
from regretless.number_checks import check_integer, check_number, check_numbers
from regretless.problem import Problem
from regretless.search.baseline import fit_baseline
from regretless.search.candidates import Candidate, make_grid, planned_candidates
from regretless.search.committee import look_up_regrets, ranked
from regretless.search.final_model import AutoResult, CandidateScore, choose
from regretless.search.growth import LeaderGrowth
from regretless.search.scores import HeldOut
from regretless.search.verdict import Comparison
from regretless.tensors import hash_of, tensor
from regretless.training import stack_checkpoint
from regretless.training.checkpoint import digest_of
from regretless.training.folds import make_folds, rest_of
from regretless.training.linear_model import find_linear
from regretless.training.model_check import check_model, initial_model
from regretless.training.model_terms import default_terms, linear_model_for, with_terms
from regretless.training.stacked_fit import fit_stacked
from regretless.type_checks import check_type

# A search over so many instances takes minutes, one over ten times as many a day.
MOST = 5000
FOLDS, BATCH, EPOCHS, LEAST_STEPS = 5, 24, 20, 400
GROWTH = 1.0
STARTS = ("two-stage", "random")


def sampled(data: Dataset, most: int | None, *, least: int, seed: int) -> Dataset:
    """At most ``most`` instances, itself at least ``least``, drawn by the seed; a warning says that there are more."""
    if most is None or len(data) <= check_integer("sample", most, least=least):
        return data
    warnings.warn(
        f"the search uses a sample of {most:,} of the {len(data):,} training instances: sample= (--set sample=NUMBER, "
        "or null for all) sets its size, and the time grows with its square",
        RegretlessWarning,
        stacklevel=3,
    )
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
    return data[order[:most].sort().values]


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
    scoring: float = 1.0,
    sample: int | None = MOST,
    committee: int | None = None,
    terms: str | Sequence[str] | None = None,
    start: str = "two-stage",
    fallback: bool = True,
    time_limit: float | None = None,
    max_solves: int | None = None,
    solutions: tuple[Tensor, Tensor | None] | None = None,
    checkpoint: Path | str | None = None,
    progress: bool | None = None,
) -> AutoResult:
    """Train many settings at once over one shared cache, and return a committee of the best, or two-stage.

    Solutions do not belong to a method: what one setting finds serves all others. Every setting is trained on the data
    without each fold and on all data, as one batched model, from the two-stage weights. Settings are compared by
    look-ups on their held-out folds. The committee averages the models of all data and, where models are linear, those
    of the folds. Only the committee and the two-stage baseline are solved exactly on held-out folds: on a quarter of
    the instances, and on more of them while the difference is not clear; and on 25 instances the linear models, with
    and without ``terms``, of which the baseline is made.

    Args:
        problem: what is solved at the predictions.
        data: training data.
        model: a model, a function ``seed -> model``, or ``None`` for linear models of standardized features, with and
            without ``terms``.
        seed: of folds, shuffling, growth and initial weights.
        folds: number of folds.
        ordered: whether folds are consecutive blocks (time series) in place of random parts.
        methods: names of the methods to try, as a list or separated by commas; by default those of
            ``default_candidates``.
        candidates: settings to try, in place of ``methods`` and ``terms``: objects of
            ``regretless.search.candidates.Candidate``.
        epochs: passes over the data; by default 20, or more where these are fewer than 400 steps.
        batch_size: instances per step and run.
        growth: exact solves for the growth of the cache, per training instance.
        scoring: largest share of the held-out instances on which the committee and two-stage are compared, at least 50
            of them. Each instance takes two exact solves.
        sample: largest number of training instances to use; of more, so many are drawn. ``None`` for all.
        committee: number of members; by default a third of all settings. With 1, the result is the best single setting.
        terms: what a linear model is also tried with, as a list or separated by commas: ``"products"`` (squares and
            products of the features), ``"splines"`` (piecewise linear functions of each feature), ``"intercepts"`` (a
            constant per variable, where the variables share one layer); ``"none"`` for the model as it is. Models have
            none of them, products, products and intercepts, or splines and intercepts. By default all where no model is
            given and they are not too many; splines only where the variables share one layer.
        start: ``"two-stage"`` weights, or ``"random"`` ones: those of the model as it is.
        fallback: whether two-stage is kept where nothing beats it, and takes part where the gain is not clear.
        time_limit: seconds after which training ends with the epoch.
        max_solves: largest number of growth solves.
        solutions: more first members of the cache, as in ``train``.
        checkpoint: file that stores the search after every epoch; an existing one is continued. Exact solves of scores
            are stored beside it.
        progress: show bars; by default on a terminal.

    Returns:
        The model, the two-stage baseline, the verdict, the scores of all candidates and the cache; see ``AutoResult``.

    Raises:
        InputError: too few instances, a setting that does not fit, or autocast is on.
        SolveError: a solve failed and the problem has ``on_failure="raise"``.

    >>> problem = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
    >>> x = torch.linspace(-1, 1, 30)[:, None]
    >>> data = Dataset.solve(problem, x, torch.cat([x**3, -x, x], dim=1))
    >>> auto(problem, data, epochs=2).verdict.instances
    30
    """
    check_type("problem", problem, Problem)
    check_type("data", data, Dataset, hint="build it with Dataset.solve(problem, features, costs)")
    check_integer("folds", folds, least=2)
    check_numbers(seed=seed, batch_size=batch_size)
    seed = int(seed)  # torch takes no integers of NumPy
    check_type("ordered", ordered, bool, hint="true or false")
    check_type("fallback", fallback, bool, hint="true or false")
    check_number("growth", growth, least=0)
    check_number("scoring", scoring, least=0, most=1)
    if start not in STARTS:
        raise InputError(f"start must be one of {', '.join(STARTS)}, got {start!r}")
    for name, value, least in (("epochs", epochs, 1), ("committee", committee, 1), ("max_solves", max_solves, 0)):
        if value is not None:
            check_integer(name, value, least=least)
    if time_limit is not None:
        check_number("time_limit", time_limit, least=0)
    check_solutions(solutions)
    data = sampled(data, sample, least=2 * folds, seed=seed)
    n = len(data)
    if n < 2 * folds:
        raise InputError(
            f"a search with {folds} folds needs at least {2 * folds} training instances, got {n}: "
            "give more rows, or train one method, such as two-stage"
        )
    steps = math.ceil(n / batch_size)
    epochs = max(EPOCHS, math.ceil(LEAST_STEPS / steps)) if epochs is None else epochs
    made = initial_model(model, data, problem.dimension, seed)
    check_model(made, data.features, data.costs.shape[1])
    if any(map(torch.is_autocast_enabled, {"cpu", next(made.parameters()).device.type})):
        raise InputError("a search cannot compare models in half precision: call it outside of torch.autocast")
    usual = default_terms(made, problem.dimension) if model is None else ()
    tried = planned_candidates(candidates, methods, terms, usual, steps=steps * epochs)
    forms = list(dict.fromkeys(candidate.terms for candidate in tried))
    for form in filter(None, forms):
        linear_model_for(made, form)

    parts = make_folds(n, folds, seed=seed, ordered=ordered)
    streams = [*(rest_of(n, part) for part in parts), torch.arange(n)]
    cache = SolutionCache(problem, data.solutions, instance=data.instance, p_solve=0.0, seed=seed)
    if solutions is not None:
        cache.add(*solutions)
    identity = search_identity(
        problem, data, made, tried, solutions, start=start, seed=seed, folds=folds, ordered=ordered,
        batch_size=batch_size, epochs=epochs, growth=growth,
    )  # fmt: skip
    if checkpoint is not None and Path(checkpoint).exists():
        stack_checkpoint.read(Path(checkpoint), identity)  # refused before anything is solved
    begun = None if checkpoint is None else beside(checkpoint)
    held_out = HeldOut(cache, data, parts, begun=begun, progress=progress)
    baseline = fit_baseline(made, held_out, streams, forms=forms, seed=seed, ordered=ordered)
    comparison = Comparison(held_out, baseline.predicted, seed=seed, most=scoring)

    losses, settings = make_grid(tried, cache, forms=forms)
    observer = LeaderGrowth(
        cache, held_out, data.instance, solves=growth * n / (steps * epochs), seed=seed, time_limit=time_limit,
        max_solves=max_solves,
    )  # fmt: skip
    starts = baseline.starts
    if start == "random":
        first = with_terms(made, data.features, {name for form in forms for name in form}) if any(forms) else made
        starts = [[copy.deepcopy(first)] * len(forms) for _ in streams]
    runs = fit_stacked(
        starts, losses, settings, data, streams, epochs=epochs, batch_size=batch_size,
        snapshots=sorted({max(1, epochs // 4), max(1, epochs // 2), epochs}), seed=seed, observer=observer,
        checkpoint=checkpoint, identity=identity, progress=progress,
    )  # fmt: skip

    regrets = look_up_regrets(runs, held_out)
    chosen, name, members, verdict = choose(
        runs, regrets, tried, held_out, baseline, comparison, committee=committee, fallback=fallback
    )
    scores = [
        CandidateScore(tried[s].name, epoch, regret, (epoch, s) in members) for (epoch, s), regret in ranked(regrets)
    ]
    growth_solves = sum(int(row["solves"]) for row in observer.rows)
    solves = {"growth": growth_solves, "scoring": held_out.solves}
    return AutoResult(
        chosen.eval(), baseline.model.eval(), verdict, name, scores, observer.rows, solves,
        runs.reason, runs.seconds, cache,
    )  # fmt: skip


def check_solutions(given: object) -> None:
    """Refuse first members of a cache that are not a pair.

    Raises:
        InputError: says how to pass them.
    """
    if given is not None and not (isinstance(given, tuple | list) and len(given) == 2):
        kind = type(given).__name__
        raise InputError(f"solutions must be a pair, (solutions, ids of instances or None), got a {kind}")


def search_identity(
    problem: Problem,
    data: Dataset,
    model: nn.Module,
    candidates: Sequence[Candidate],
    solutions: tuple[Tensor, Tensor | None] | None,
    *,
    start: str,
    **settings: Any,
) -> dict[str, Any]:
    """Return everything that determines the numbers of a search, by name, as plain data.

    Limits are not part of it: a search that one of them ended continues with a larger one. The initial weights of the
    model are, unless the two-stage fit, in closed form, does not depend on them.
    """
    given = [] if solutions is None else [tensor("solutions", part) for part in solutions if part is not None]
    free = start == "two-stage" and find_linear(model) is not None
    return settings | {
        "problem": problem.fingerprint,
        "data": digest_of(data),
        "candidates": [repr(candidate) for candidate in candidates],  # names round their numbers
        "solutions": hash_of(given) if given else None,
        "start": start,
        "model": repr(model),
        "precision": str(next(model.parameters()).dtype),
        "initial weights": None if free else hash_of(model.state_dict().values()),
    }
