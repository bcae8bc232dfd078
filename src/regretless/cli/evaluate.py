"""``regretless evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.begun_solves import beside, kept_until_done
from regretless.cli import show
from regretless.cli.spec_options import Executor, Json, Unseen, Workers, checked_unseen
from regretless.errors import InputError, SolveError
from regretless.runs import load_trained
from regretless.runs.decide import decider
from regretless.runs.run_folder import read_spec
from regretless.runs.run_ledger import solve_ledger
from regretless.solvers.executors import parse_executor
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
    left_out = 0  # rows without a solution, of which a warning tells
    with kept_until_done(beside(run / "evaluation")) as begun:
        if features is not None and costs is not None:
            given: dict[str, Any] = {"family": constraints is not None, "unseen": checked_unseen(unseen)}
            where, ready = str(features), decider(run, workers=workers, executor=executor, **given)
            given_rows = ready.rows(features, costs, constraints)
            model, problem, data = ready.model, ready.problem, ready.labelled(given_rows, begun=begun)
            left_out = len(given_rows) - len(data)
        else:
            where = on or "test"
            _, loaded, model = load_trained(run, workers=workers, executor=executor)
            problem, data = loaded.problem, getattr(loaded, where)
            if data is None or (where == "test" and loaded.evaluated_on != "test"):
                raise InputError(
                    f"the split of {spec.problem} has no {where} data: use --on, or give --features and --costs"
                )
        if not len(data):
            raise SolveError(f"no row of {where} has a solution: there is nothing to evaluate")
        result = evaluate_instances(model, data, problem, begun=begun, progress=None)[0].as_dict()
    show.warn_of_inexact(result)
    if json:
        about = {"problem": spec.problem, "method": spec.method, "on": where, "left_out": left_out}
        show.print_json(result | about | {"ledger": solve_ledger(problem)})
        return
    # What is not exact is shown where there is some: the warning above says what it means.
    rows = [
        (show.figure_name(name), show.number(value))
        for name, value in result.items()
        if value is not None and (value or name not in show.INEXACT)
    ]
    show.print_table(f"{spec.problem}, {spec.method}, {where} data", ("figure", "value"), rows)
    show.print_ledger(solve_ledger(problem))
