"""``regretless evaluate``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from torch import Tensor

from regretless.begun_solves import beside, kept_until_done
from regretless.cli import show
from regretless.cli.spec_options import Executor, Json, Unseen, Workers, checked_unseen
from regretless.errors import InputError, SolveError
from regretless.metrics import optimal_values
from regretless.runs import load_trained
from regretless.runs.decide import cost_names_of, decider
from regretless.runs.forecasts import read_forecasts
from regretless.runs.run_folder import read_spec
from regretless.runs.run_ledger import solve_ledger
from regretless.search import Verdict
from regretless.search.verdict import judge
from regretless.solvers.executors import parse_executor
from regretless.tables.saved_problem import has_saved_problem, load_saved_problem
from regretless.training.evaluation import evaluate_instances


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
    unseen: Unseen = None,
    workers: Workers = 1,
    executor: Executor = "threads",
    json: Json = False,
) -> None:
    """Evaluate a trained model exactly: its regret, relative regret and prediction error."""
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
    id = load_saved_problem(run).id if has_saved_problem(run) else "instance"
    left_out = 0  # rows without a solution, of which a warning tells
    predicted: Tensor | None = None  # by the other model
    with kept_until_done(beside(run / "evaluation")) as begun:
        if features is not None and costs is not None:
            given: dict[str, Any] = {"family": constraints is not None, "unseen": checked_unseen(unseen)}
            where, ready = str(features), decider(run, workers=workers, executor=executor, **given)
            rows = ready.rows(features, costs, constraints)
            if forecasts is not None:
                predicted = read_forecasts(forecasts, ready.cost_names, rows.names, len(rows), where=where, id=id)
            model, problem, data = ready.model, ready.problem, ready.labelled(rows, begun=begun)
            left_out = len(rows) - len(data)
            if left_out and predicted is not None:
                predicted = predicted[_positions(rows.names, data.names)]
        else:
            where = on or "test"
            _, loaded, model = load_trained(run, workers=workers, executor=executor)
            problem, data = loaded.problem, getattr(loaded, where)
            if data is None or (where == "test" and loaded.evaluated_on != "test"):
                raise InputError(
                    f"the split of {spec.problem} has no {where} data: use --on, or give --features and --costs"
                )
            if forecasts is not None:
                names = problem.cost_names or cost_names_of(problem)
                part = f"the {where} data of {run}"
                predicted = read_forecasts(forecasts, names, data.names, len(data), where=part, id=id)
        if not len(data):
            raise SolveError(f"no row of {where} has a solution: there is nothing to evaluate")
        figures, decided = evaluate_instances(model, data, problem, begun=begun, progress=None)
        results, verdict = {"value": figures.as_dict()}, None
        if predicted is not None:
            other, others = evaluate_instances(predicted, data, problem, begun=begun, progress=None)
            optimal = optimal_values(problem, data.costs, data.solutions, data.instance)
            verdict = judge(others.regrets, decided.regrets, optimal)
            results = {"model": figures.as_dict(), "forecasts": other.as_dict()}
    result = figures.as_dict()
    show.warn_of_inexact(result)
    if json:
        about = {"problem": spec.problem, "method": spec.method, "on": where, "left_out": left_out}
        if verdict is not None:
            gain = {name: getattr(verdict, name) for name in ("gain", "low", "high", "level", "instances")}
            about |= {"forecasts": results["forecasts"], "comparison": gain}
        show.print_json(result | about | {"ledger": solve_ledger(problem)})
        return
    # What is not exact is shown where there is some: the warning above says what it means.
    shown = [
        (show.figure_name(name), *(show.number(column[name]) for column in results.values()))
        for name in result
        if any(column[name] is not None and (column[name] or name not in show.INEXACT) for column in results.values())
    ]
    show.print_table(f"{spec.problem}, {spec.method}, {where} data", ("figure", *results), shown)
    if verdict is not None:
        print(_compared(verdict))
    show.print_ledger(solve_ledger(problem))


def _positions(names: Sequence[str] | None, left: Sequence[str] | None) -> list[int]:
    """Positions of the rows that have a solution."""
    if names is None or left is None:
        raise InputError(
            "some rows have no solution, and without names the forecasts cannot be matched with the others: name the "
            "rows of all tables (column 'instance', or --id), or leave these rows out"
        )
    place = {name: row for row, name in enumerate(names)}
    return [place[name] for name in left]


def _compared(verdict: Verdict) -> str:
    """Whether the model is better than the forecasts, with the interval of the difference."""
    if math.isnan(verdict.error):
        return f"Model and forecasts cannot be compared on {verdict.instances} instances."
    figures = (
        f"gain {verdict.gain:.4g} per instance, {100 * verdict.level:.0f} % interval {verdict.low:.4g} to "
        f"{verdict.high:.4g}"
    )
    if verdict.low > 0:
        return f"The model leads to better decisions than the forecasts: {figures}."
    if verdict.high < 0:
        return f"The forecasts lead to better decisions than the model: {figures}."
    return f"The difference between model and forecasts is within its uncertainty: {figures}."
