"""``regretless evaluate``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from torch import Tensor, nn

from regretless.begun_solves import BegunSolves, beside, kept_until_done
from regretless.cli import show
from regretless.cli.spec_options import Executor, Json, Unseen, Workers, checked_unseen
from regretless.data import Dataset
from regretless.errors import InputError, SolveError
from regretless.metrics import optimal_values
from regretless.problem import Problem
from regretless.runs import load_trained
from regretless.runs.decide import cost_names_of, decider
from regretless.runs.forecasts import read_forecasts
from regretless.runs.run_folder import read_spec, read_two_stage
from regretless.runs.run_ledger import solve_ledger
from regretless.search import Verdict
from regretless.search.verdict import judge
from regretless.solvers.executors import parse_executor
from regretless.tables.saved_problem import has_saved_problem, load_saved_problem
from regretless.training.evaluation import Evaluation, evaluate_instances


def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    on: Annotated[
        str | None, typer.Option(help="Part of the run's own data: test (default), validation or train.")
    ] = None,
    features: Annotated[Path | None, typer.Option(help="Other data: features (.csv, .xlsx, .parquet, .npz).")] = None,
    costs: Annotated[Path | None, typer.Option(help="Other data: true costs, one column per cost variable.")] = None,
    constraints: Annotated[
        Path | None, typer.Option(help="Other data: right-hand sides, bounds or known costs per instance.")
    ] = None,
    forecasts: Annotated[
        Path | None, typer.Option(help="Costs that another model predicts for these data, to compare with.")
    ] = None,
    two_stage: Annotated[
        bool, typer.Option(help="Compare with the run's two-stage baseline: one more solve per instance.")
    ] = True,
    unseen: Unseen = None,
    workers: Workers = 1,
    executor: Executor = "threads",
    json: Json = False,
) -> None:
    """Evaluate a trained model exactly, beside two-stage: regret, relative regret and prediction error."""
    if on not in (None, "test", "validation", "train"):
        raise InputError(f"--on must be test, validation or train, got {on!r}")
    if (features is None) != (costs is None):
        raise InputError("--features and --costs go together: regret needs both")
    if constraints is not None and features is None:
        raise InputError("--constraints is for other data: give --features and --costs, too")
    if features is not None and on is not None:
        raise InputError("--on is for the run's own data: leave it out with --features and --costs")
    spec = read_spec(run)
    parse_executor(executor)
    show.warn_of_idle_workers(spec, workers, executor)
    how: dict[str, Any] = {"workers": workers, "executor": executor}
    with kept_until_done(beside(run / "evaluation")) as begun:
        if features is not None and costs is not None:
            how |= {"family": constraints is not None, "unseen": checked_unseen(unseen)}
            given = _other_data(run, features, costs, constraints, forecasts, begun, how)
        else:
            given = _own_data(run, on or "test", forecasts, how)
        if not len(given.data):
            raise SolveError(f"no row of {given.where} has a solution: there is nothing to evaluate")
        baseline = read_two_stage(given.blank, run) if two_stage else None
        both = {"two-stage": baseline, "forecasts": given.forecasts}.items()
        figures, verdicts = _compare(given, {name: other for name, other in both if other is not None}, begun)
    result = figures["model"].as_dict()
    show.warn_of_inexact(result)
    ledger = solve_ledger(given.problem)
    if json:
        about: dict[str, Any] = {"problem": spec.problem, "method": spec.method, "on": given.where}
        about |= {"left_out": given.left_out}
        for name, verdict in verdicts.items():
            gain = {key: getattr(verdict, key) for key in ("gain", "low", "high", "level", "instances")}
            key = name.replace("-", "_")
            about |= {key: figures[name].as_dict(), f"{key}_comparison": gain}
        show.print_json(result | about | {"ledger": ledger})
        return
    columns = {name: one.as_dict() for name, one in figures.items()}
    # What is not exact is shown where there is some: the warning above says what it means.
    shown = [
        (show.figure_name(name), *(show.number(column[name]) for column in columns.values()))
        for name in result
        if any(column[name] is not None and (column[name] or name not in show.INEXACT) for column in columns.values())
    ]
    heads = columns if verdicts else {"value": result}
    show.print_table(f"{spec.problem}, {spec.method}, {given.where} data", ("figure", *heads), shown)
    for name, verdict in verdicts.items():
        print(_compared(verdict, name))
    show.print_ledger(ledger)


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


def _other_data(
    run: Path,
    features: Path,
    costs: Path,
    constraints: Path | None,
    forecasts: Path | None,
    begun: BegunSolves,
    how: dict[str, Any],
) -> _Given:
    """Rows of files."""
    ready = decider(run, **how)
    rows = ready.rows(features, costs, constraints)
    predicted = None
    if forecasts is not None:
        where = str(features)
        predicted = read_forecasts(forecasts, ready.cost_names, rows.names, len(rows), where=where, id=_id(run))
    data = ready.labelled(rows, begun=begun)
    left_out = len(rows) - len(data)
    if left_out and predicted is not None:
        predicted = predicted[_positions(rows.names, data.names)]
    return _Given(str(features), ready.model, ready.problem, data, ready.blank, predicted, left_out)


def _own_data(run: Path, part: str, forecasts: Path | None, how: dict[str, Any]) -> _Given:
    """A part of the run's own data."""
    spec, loaded, model = load_trained(run, **how)
    problem, data = loaded.problem, getattr(loaded, part)
    if data is None or (part == "test" and loaded.evaluated_on != "test"):
        raise InputError(f"the split of {spec.problem} has no {part} data: use --on, or give --features and --costs")
    predicted = None
    if forecasts is not None:
        names, where = problem.cost_names or cost_names_of(problem), f"the {part} data of {run}"
        predicted = read_forecasts(forecasts, names, data.names, len(data), where=where, id=_id(run))
    return _Given(part, model, problem, data, lambda: loaded.model(0), predicted)


def _id(run: Path) -> str:
    """The column that names the rows of tables."""
    return load_saved_problem(run).id if has_saved_problem(run) else "instance"


def _compare(
    given: _Given, others: dict[str, nn.Module | Tensor], begun: BegunSolves
) -> tuple[dict[str, Evaluation], dict[str, Verdict]]:
    """Figures of the model and of the others by name, and for each other one whether the model is better."""
    data, problem = given.data, given.problem
    optimal = optimal_values(problem, data.costs, data.solutions, data.instance)
    figures, decided = evaluate_instances(given.model, data, problem, begun=begun, progress=None)
    found, verdicts = {"model": figures}, {}
    for name, other in others.items():
        theirs = figures, decided
        if not _equal(given.model, other):  # a search may have chosen its baseline
            theirs = evaluate_instances(other, data, problem, begun=begun, progress=None)
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


def _compared(verdict: Verdict, other: str) -> str:
    """Whether the model is better than two-stage or the forecasts, with the interval of the difference."""
    name, leads = (other, "leads") if other == "two-stage" else (f"the {other}", "lead")
    if math.isnan(verdict.error):
        return f"Model and {other} cannot be compared on {verdict.instances} instances."
    if verdict.low == verdict.high == 0:
        return f"The model and {name} lead to equally good decisions."
    figures = (
        f"gain {verdict.gain:.4g} per instance, {100 * verdict.level:.0f} % interval {verdict.low:.4g} to "
        f"{verdict.high:.4g}"
    )
    if verdict.low > 0:
        return f"The model leads to better decisions than {name}: {figures}."
    if verdict.high < 0:
        return f"{name[0].upper()}{name[1:]} {leads} to better decisions than the model: {figures}."
    return f"The difference between model and {other} is within its uncertainty: {figures}."
