"""Evaluate a finished run exactly: its model beside its two-stage baseline and forecasts of other models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regretless.begun_solves import BegunSolves, beside, kept_until_done
from regretless.data import Dataset
from regretless.errors import InputError, SolveError
from regretless.metrics import optimal_values
from regretless.problem import Problem
from regretless.runs.decide import LoadedRun, cost_names_of, decider
from regretless.runs.new_rows import Rows
from regretless.runs.run_folder import read_two_stage
from regretless.runs.run_ledger import Ledger, solve_ledger
from regretless.runs.training_run import load_trained
from regretless.search import Verdict
from regretless.search.verdict import judge
from regretless.tables import read_costs
from regretless.tables.costs import row_order
from regretless.tables.doubtful_data import warn_of_scale
from regretless.tables.encoded_column import Unseen
from regretless.tables.row_names import row_key
from regretless.tables.saved_data import has_saved_data, load_saved_data
from regretless.tables.saved_problem import SavedProblem, has_saved_problem, load_saved_problem
from regretless.training.evaluation import Evaluation, evaluate_instances

PARTS = ("test", "validation", "train")


@dataclass(frozen=True)
class RunEvaluation:
    """Figures of a run, and comparisons with it.

    Attributes:
        on: name of the data: a part of the run's own, or the file of the features.
        figures: of the ``"model"``, of ``"two-stage"`` and of the ``"forecasts"``, where they were compared.
        comparisons: for two-stage and the forecasts, the gain of the model over them with its interval.
        left_out: number of rows without a solution, of which a warning tells.
        ledger: exact solves by purpose.
    """

    on: str
    figures: dict[str, Evaluation]
    comparisons: dict[str, Verdict]
    left_out: int
    ledger: Ledger


def evaluate_run(
    run: Path | str,
    *,
    on: str | None = None,
    features: Path | str | None = None,
    costs: Path | str | None = None,
    constraints: Path | str | None = None,
    forecasts: Path | str | None = None,
    two_stage: bool = True,
    unseen: Unseen | None = None,
    workers: int | None = 1,
    executor: str = "threads",
    progress: bool | None = None,
) -> RunEvaluation:
    """Evaluate a finished run on a part of its own data, or on the rows of files.

    Solves of an evaluation that was interrupted are not made again.

    Args:
        run: folder of the run.
        on: part of the run's own data: ``"test"`` (the default), ``"validation"`` or ``"train"``.
        features, costs: files with other data.
        constraints: file with right-hand sides, bounds or known costs of the other data.
        forecasts: file with costs that another model predicts for these data.
        two_stage: whether to compare with the run's two-stage baseline, which takes one more solve per instance.
        unseen: what to do with levels of a category that did not occur in training; by default as in training.
        workers: instances that are solved at the same time.
        executor: who solves them: ``threads``, ``processes`` or ``ray[:ADDRESS]``.
        progress: show bars; by default on a terminal.

    Raises:
        FileError: there is no finished run in the folder, or a file cannot be read.
        InputError: the run has no such data, or arguments or files do not fit together.
        SolveError: a solve failed, or no row has a solution.
    """
    _check_choice(on, features, costs, constraints)
    run = Path(run)
    how: dict[str, Any] = {"workers": workers, "executor": executor}
    with kept_until_done(beside(run / "evaluation")) as begun:
        if features is not None and costs is not None:
            ready = decider(run, family=constraints is not None, unseen=unseen, **how)
            rows = ready.rows(features, costs, constraints)
            if has_saved_data(run):
                known = load_saved_data(run).train.costs.numpy()
                warn_of_scale(rows.costs.numpy(), known, source=str(costs), run=str(run))
            given = _other_data(ready, rows, str(features), forecasts, begun)
        else:
            given = _own_data(run, on or "test", forecasts, how)
        if not len(given.data):
            raise SolveError(f"no row of {given.where} has a solution: there is nothing to evaluate")
        baseline = read_two_stage(given.blank, run) if two_stage else None
        both = {"two-stage": baseline, "forecasts": given.forecasts}.items()
        others = {name: other for name, other in both if other is not None}
        figures, comparisons = _compare(given, others, begun, progress)
    return RunEvaluation(given.where, figures, comparisons, given.left_out, solve_ledger(given.problem))


def _check_choice(on: str | None, features: Any, costs: Any, constraints: Any) -> None:
    if on not in (None, *PARTS):
        raise InputError(f"--on must be test, validation or train, got {on!r}")
    if (features is None) != (costs is None):
        raise InputError("--features and --costs go together: regret needs both")
    if constraints is not None and features is None:
        raise InputError("--constraints is for other data: give --features and --costs, too")
    if features is not None and on is not None:
        raise InputError("--on is for the run's own data: leave it out with --features and --costs")


@dataclass(frozen=True)
class _Given:
    """What is evaluated on what.

    Attributes:
        where: the name of the data.
        model, problem, data: what is evaluated.
        blank: makes a model of the same kind.
        forecasts: costs that another model predicts ``(n, d)``.
        left_out: number of rows without a solution, of which a warning tells.
    """

    where: str
    model: nn.Module
    problem: Problem
    data: Dataset
    blank: Callable[[], nn.Module]
    forecasts: Tensor | None
    left_out: int = 0


def _other_data(ready: LoadedRun, rows: Rows, where: str, forecasts: Path | str | None, begun: BegunSolves) -> _Given:
    """Rows of files."""
    predicted = None
    if forecasts is not None:
        predicted = read_forecasts(forecasts, ready.cost_names, rows.names, len(rows), where=where, saved=ready.saved)
    data = ready.labelled(rows, begun=begun)
    left_out = len(rows) - len(data)
    if left_out and predicted is not None:
        predicted = predicted[_positions(rows.names, data.names)]
    return _Given(where, ready.model, ready.problem, data, ready.blank, predicted, left_out)


def _own_data(run: Path, part: str, forecasts: Path | str | None, how: dict[str, Any]) -> _Given:
    """A part of the run's own data."""
    spec, loaded, model = load_trained(run, **how)
    problem, data = loaded.problem, getattr(loaded, part)
    if data is None or (part == "test" and loaded.evaluated_on != "test"):
        raise InputError(f"the split of {spec.problem} has no {part} data: use --on, or give --features and --costs")
    predicted = None
    if forecasts is not None:
        saved = load_saved_problem(run) if has_saved_problem(run) else None
        names, where = problem.cost_names or cost_names_of(problem), f"the {part} data of {run}"
        predicted = read_forecasts(forecasts, names, data.names, len(data), where=where, saved=saved)
    return _Given(part, model, problem, data, lambda: loaded.model(0), predicted)


def _compare(
    given: _Given, others: dict[str, nn.Module | Tensor], begun: BegunSolves, progress: bool | None
) -> tuple[dict[str, Evaluation], dict[str, Verdict]]:
    """Figures of the model and of the others by name, and for each other one whether the model is better."""
    data, problem = given.data, given.problem
    optimal = optimal_values(problem, data.costs, data.solutions, data.instance)
    figures, decided = evaluate_instances(given.model, data, problem, begun=begun, progress=progress)
    found, verdicts = {"model": figures}, {}
    for name, other in others.items():
        theirs = figures, decided
        if not _equal(given.model, other):  # a search may have chosen its baseline
            theirs = evaluate_instances(other, data, problem, begun=begun, progress=progress)
        found[name] = theirs[0]
        verdicts[name] = judge(theirs[1].regrets, decided.regrets, optimal)
    return found, verdicts


def _equal(model: nn.Module, other: nn.Module | Tensor) -> bool:
    """Whether both have the same weights."""
    if isinstance(other, Tensor):
        return False
    mine, its = model.state_dict(), other.state_dict()
    return mine.keys() == its.keys() and all(torch.equal(mine[name], its[name]) for name in mine)


def _positions(names: Sequence[str] | None, left: Sequence[str] | None) -> list[int]:
    """Positions of the rows that have a solution."""
    if names is None or left is None:
        raise InputError(
            "some rows have no solution, and without names the forecasts cannot be matched with the others: name the "
            "rows of all tables (column 'instance', or --id), or leave these rows out"
        )
    place = {name: row for row, name in enumerate(names)}
    return [place[name] for name in left]


def read_forecasts(
    path: Path | str,
    cost_names: Sequence[str],
    names: Sequence[str] | None,
    count: int,
    *,
    where: str,
    saved: SavedProblem | None = None,
) -> Tensor:
    """Read forecasts ``(n, d)`` for the rows of a data set; the file has the form of true costs.

    Args:
        path: one row per instance and one column per cost variable, or one row per variable and instance.
        cost_names: the variables.
        names: of the rows, in their order; ``None`` where they have none and are matched by position. The file may have
            more rows with names.
        count: number of the rows.
        where: the name of the data, for messages.
        saved: the problem of a run on a model file.

    Raises:
        InputError: the file cannot be read, or its rows cannot be matched.
    """
    found = read_costs(path, cost_names) if saved is None else saved.costs(path)
    values = torch.as_tensor(found.values).to(torch.float64)
    kept = list(range(len(values)))
    if found.instance is not None and names is not None:
        wanted = {row_key(name) for name in names}
        kept = [row for row, name in enumerate(found.instance) if row_key(name) in wanted] or kept
    have = None if found.instance is None else [found.instance[row] for row in kept]
    order = row_order(have, names, counts=(len(kept), count), names=(str(path), where))
    return values[[kept[row] for row in order]]
