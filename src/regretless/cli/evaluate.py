"""``regretless evaluate``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.cli import show
from regretless.cli.spec_options import Executor, Json, Unseen, Workers
from regretless.runs.evaluate import evaluate_run
from regretless.runs.method_names import method_and_baseline
from regretless.runs.results import INEXACT
from regretless.runs.run_folder import read_spec
from regretless.search import Verdict
from regretless.solvers.executors import parse_executor


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
    workers: Workers = None,
    executor: Executor = "threads",
    json: Json = False,
) -> None:
    """Evaluate a trained model exactly, beside two-stage: regret, relative regret and prediction error."""
    spec = read_spec(run)
    parse_executor(executor)
    found = evaluate_run(
        run, on=on, features=features, costs=costs, constraints=constraints, forecasts=forecasts, two_stage=two_stage,
        unseen=unseen, workers=workers, executor=executor,
    )  # fmt: skip
    show.warn_of_idle_workers(spec, workers, executor)
    figures, verdicts = found.figures, found.comparisons
    result = figures["model"].as_dict()
    show.warn_of_inexact(result)
    if json:
        about: dict[str, Any] = {"problem": spec.problem, "method": spec.method, "on": found.on}
        about |= {"left_out": found.left_out}
        for name, verdict in verdicts.items():
            gain = {key: getattr(verdict, key) for key in ("gain", "low", "high", "level", "instances")}
            key = name.replace("-", "_")
            about |= {key: figures[name].as_dict(), f"{key}_comparison": gain}
        show.print_json(result | about | {"ledger": found.ledger})
        return
    method, baseline = method_and_baseline(spec.method, spec.settings)
    called = {"two-stage": baseline}
    columns = {called.get(name, name): one.as_dict() for name, one in figures.items()}
    # What is not exact is shown where there is some: the warning above says what it means.
    shown = [
        (show.figure_name(name), *(column[name] for column in columns.values()))
        for name in result
        if any(column[name] is not None and (column[name] or name not in INEXACT) for column in columns.values())
    ]
    heads = columns if verdicts else {"value": result}
    show.print_table(f"{spec.problem}, {method}, {found.on} data", ("figure", *heads), shown)
    for name, verdict in verdicts.items():
        print(_compared(verdict, called.get(name, name)))
    show.print_ledger(found.ledger)


def _compared(verdict: Verdict, other: str) -> str:
    """Whether the model is better than two-stage or the forecasts, with the interval of the difference."""
    name, leads = (other, "leads") if other.startswith("two-stage") else (f"the {other}", "lead")
    if math.isnan(verdict.error):
        return f"Model and {other} cannot be compared: that needs two instances, got {verdict.instances}."
    if verdict.low == verdict.high == 0:
        return f"The model and {name} lead to equally good decisions."
    figures = verdict.gain_words
    if verdict.low > 0:
        return f"The model leads to better decisions than {name}: {figures}."
    if verdict.high < 0:
        return f"{name[0].upper()}{name[1:]} {leads} to better decisions than the model: {figures}."
    return f"The difference between model and {other} is within its uncertainty: {figures}."
