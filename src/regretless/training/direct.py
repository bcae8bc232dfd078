"""Direct minimization of the exact training regret, without gradients, for models with few parameters."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from regretless import metrics
from regretless.data import Dataset
from regretless.errors import FileError, InputError
from regretless.instance_weights import weighted_mean
from regretless.number_checks import LARGEST_SEED, check_integer, check_number
from regretless.optional import need
from regretless.problem import Problem
from regretless.progress import track
from regretless.training.checkpoint import digest_of
from regretless.training.evaluation import evaluate, predict
from regretless.training.history import History, totals
from regretless.training.interrupt import Interrupted, Interruption, kept_in
from regretless.training.model_check import check_model, trained_parameters
from regretless.training.running_fit import Fitted
from regretless.training.search_log import SearchLog
from regretless.type_checks import check_type

MOST_PARAMETERS = 1000


def direct(
    model: nn.Module,
    problem: Problem,
    train: Dataset,
    *,
    generations: int = 150,
    population: int | None = None,
    sigma: float = 0.5,
    validation: Dataset | None = None,
    patience: int = 40,
    seed: int = 0,
    checkpoint: Path | str | None = None,
    progress: bool | None = None,
) -> Fitted:
    r"""Minimize the mean exact regret on the training data by CMA-ES, starting from the weights of the model.

    .. math:: \min_w \frac{1}{n} \sum_i f(v^*(m(w, x_i)), c_i)

    It needs no gradient and no surrogate, so it shows how low the regret of a model class can be. Started from trained
    weights it refines them. It needs one exact solve per instance and candidate, and therefore a fast oracle and few
    parameters.

    Args:
        model: with at most 1000 parameters; trained in place.
        problem: solves at the predictions.
        train: training data.
        generations: number of generations.
        population: candidates per generation; ``None`` for the rule of CMA-ES.
        sigma: initial step size, relative to the size of the initial weights (absolute where they are zero).
        validation: its exact regret selects the weights, the initial ones included. Without it the last mean is the
            result, or the initial weights where their training regret is lower.
        patience: generations without a smaller validation regret before the search ends.
        seed: of the search.
        checkpoint: file that stores the search after every generation; where it exists already, the search continues
            from it.
        progress: show a bar; by default on a terminal.

    Raises:
        InputError: the model has no or too many parameters or does not fit the data, or a setting is out of range.
        FileError: the checkpoint is damaged or of another search; it is not changed.
        Interrupted: SIGINT or SIGTERM was received; the checkpoint, where there is one, is of the last generation.
        MissingDependencyError: the package ``cma`` is not installed.
    """
    cma = need("cma", pip="cma", why="minimize regret directly")
    check_type("model", model, nn.Module)
    check_type("problem", problem, Problem)
    given: dict[str, Any] = {"train": train} | ({} if validation is None else {"validation": validation})
    for name, data in given.items():
        check_type(name, data, Dataset)
        if not len(data):
            raise InputError(f"{name} needs data, got 0 instances")
    count = sum(parameter.numel() for parameter in trained_parameters(model))
    if not 0 < count <= MOST_PARAMETERS:
        raise InputError(f"direct search takes models of 1 to {MOST_PARAMETERS} parameters, got {count}")
    check_model(model, train.features, train.costs.shape[1])
    seed = check_integer("seed", seed, least=0, most=LARGEST_SEED)
    check_integer("generations", generations, least=1)
    check_number("sigma", sigma)
    check_integer("patience", patience, least=1)
    if population is not None:
        check_integer("population", population, least=2)
    first = parameters_to_vector(trained_parameters(model)).detach().to(torch.float64).cpu()
    size = float(first.square().mean().sqrt()) or 1.0
    # A seed of 0 means "by the clock" to cma.
    options: dict[str, Any] = {"seed": seed + 1, "verbose": -9, "maxiter": generations}
    if population is not None:
        options["popsize"] = population
    settings = {"seed": seed, "population": population, "sigma": sigma, "patience": patience, "cma": cma.__version__}
    settings |= {"first": first.tolist(), "problem": problem.fingerprint, "data": digest_of(train)}
    settings |= {"validation": None if validation is None else digest_of(validation)}
    log = SearchLog(checkpoint, settings, problem)
    if len(log) > generations:
        raise FileError(f"{log.path} holds {len(log)} generations already, more than the {generations} requested")
    search = cma.CMAEvolutionStrategy(first.numpy(), sigma * size, options)
    return _search(search, model, problem, train, validation, generations, patience, log, progress)


def _search(
    search: Any,
    model: nn.Module,
    problem: Problem,
    train: Dataset,
    validation: Dataset | None,
    generations: int,
    patience: int,
    log: SearchLog,
    progress: bool | None,
) -> Fitted:
    history, known = History(), len(log)
    first = kept = np.array(search.mean)
    # The initial weights take part, so that the result is never worse on the data that selects.
    best, since = math.inf, 0
    if validation is not None and not math.isnan(regret := _watched(model, validation, problem)):
        best = regret
    reason = f"all {generations} generations done"
    with Interruption() as interruption:
        for generation in track(range(generations), total=generations, label="direct search", show=progress):
            if generation < known:
                row = _again(search, log, generation, validated=validation is not None)
            else:
                values, row = _generation(search, model, problem, train, generation)
                if validation is not None:
                    _put(model, np.array(search.mean))
                    row["validation_regret"] = row["regret"] = _watched(model, validation, problem)
                log.append(values, row)
            if validation is None:
                kept = np.array(search.mean)
            elif row["regret"] < best:
                best, since, kept = row["regret"], 0, np.array(search.mean)
            else:
                since += 1
            history.append(row)
            if interruption.received:
                _put(model, kept)
                said = f"{interruption.received}: direct search ended after generation {generation + 1}"
                raise Interrupted(f"{said}; {kept_in(log.path)}")
            if since >= patience:
                reason = f"no better validation regret than {best:.6g} for {patience} generations"
                break
            if ends := [name for name in search.stop() if name != "maxiter"]:
                reason = f"the search has converged: {', '.join(ends)}"
                break
    if validation is None:
        before, after = _mean_costs(model, problem, train, [first, kept])
        kept = first if before < after else kept
    _put(model, kept)
    return Fitted(model, history, reason)


def _watched(model: nn.Module, validation: Dataset, problem: Problem) -> float:
    """Validation regret; NaN where a prediction is not finite."""
    if not bool(torch.isfinite(predict(model, validation.features)).all()):
        return math.nan
    with problem.counted_as("watching"):
        return evaluate(model, validation, problem).regret


def _again(search: Any, log: SearchLog, generation: int, *, validated: bool) -> dict[str, Any]:
    """Repeat a stored generation; nothing is solved."""
    row = log.rows[generation]
    try:
        search.tell(search.ask(), log.values[generation])
        if validated:
            row["regret"] = float(row["regret"])
    except Exception as error:  # whatever the content makes the search do, the file is the cause
        raise FileError(f"{log.path}: generation {generation + 1} cannot be repeated: {error}") from error
    return row


def _generation(
    search: Any, model: nn.Module, problem: Problem, train: Dataset, generation: int
) -> tuple[list[float], dict[str, Any]]:
    start, before = time.perf_counter(), totals(problem)
    candidates = search.ask()
    values = _mean_costs(model, problem, train, candidates)
    search.tell(candidates, values)
    row = {"epoch": generation + 1, "loss": float(min(values)), "seconds": time.perf_counter() - start}
    used = {name: count - before[name] for name, count in totals(problem).items()}
    return values, row | used | {"cache_size": None}


def _mean_costs(
    model: nn.Module, problem: Problem, train: Dataset, candidates: list[NDArray[np.float64]]
) -> list[float]:
    """Mean regret of every candidate: all their predictions are solved as one batch."""
    predicted = []
    for candidate in candidates:
        _put(model, candidate)
        predicted.append(predict(model, train.features).to(torch.float64))
    ids = None if train.instance is None else train.instance.repeat(len(candidates))
    stacked = torch.cat(predicted)
    # A candidate with predictions that are not finite is the worst, and no error.
    finite = torch.isfinite(stacked).all(dim=1)
    solved = problem.attempt(
        problem.to_minimization(torch.where(finite[:, None], stacked, torch.zeros_like(stacked)), ids), ids
    )
    n, k = len(train), len(candidates)
    status = None if train.status is None else train.status * k
    costs, labels = problem.to_minimization(train.costs, train.instance).repeat(k, 1), train.solutions.repeat(k, 1)
    regrets = metrics.checked_regrets(
        problem, solved, costs, labels, instance=ids, status=status, rows=list(range(n)) * k
    ).view(k, n)
    # Instances whose solve failed are left out of the mean; a candidate without any instance is the worst, too.
    averages = regrets.nanmean(dim=1)
    if train.weight is not None:
        averages = averages.new_tensor([weighted_mean(one, train.weight) for one in regrets])
    means = averages.masked_fill(~finite.view(k, n).all(dim=1), torch.inf)
    return [float(value) for value in means.nan_to_num(nan=torch.inf)]


def _put(model: nn.Module, weights: NDArray[np.float64]) -> None:
    trained = trained_parameters(model)
    vector_to_parameters(torch.as_tensor(weights).to(trained[0]), trained)
