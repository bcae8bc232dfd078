"""``regretless train``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.cli.file_options import file_options, given
from regretless.cli.inexact import warn_of_inexact
from regretless.cli.settings import parse
from regretless.cli.show import number, print_json, print_table
from regretless.cli.writable import refuse_unwritable
from regretless.errors import InputError
from regretless.paper.training_defaults import training_defaults
from regretless.problems import names as problems
from regretless.runs import Spec, run
from regretless.runs.run import load_problem
from regretless.training import methods

SHOWN = ("regret", "relative_regret", "mse", "auc", "epochs", "epoch_seconds", "solves", "lookups", "cache_size")
# Epochs without a better validation regret, where a share of the user's files is held out for that.
PATIENCE = 5


def train(
    problem: Annotated[
        str, typer.Argument(help=f"One of {', '.join(problems())}, energy:PATH, or an .mps or .lp file.")
    ],
    out: Annotated[Path, typer.Option(help="Folder to keep the run in.")],
    method: Annotated[str, typer.Option(help=f"One of {', '.join(methods.names())}.")] = "map-dc",
    p_solve: Annotated[float | None, typer.Option(help="Probability of a solve, for cached methods (0.05).")] = None,
    grow_at: Annotated[str | None, typer.Option(help="Where the cache solves: predicted or transformed.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of first weights, shuffling and coin.")] = 0,
    init: Annotated[str, typer.Option(help="First weights: random (by seed) or shared by all seeds.")] = "random",
    epochs: Annotated[int | None, typer.Option(help="Passes over the data.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of Adam.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Instances a step.")] = None,
    patience: Annotated[
        int | None,
        typer.Option(help="Stop after so many epochs with no better validation regret; 0 never (5 with --validation)."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Split of the data: paper, chronological or random.")] = None,
    engine: Annotated[str | None, typer.Option(help="oracle (special, exact), highs, scip, cpsat or gurobi.")] = None,
    workers: Annotated[int, typer.Option(help="Solver threads.")] = 1,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for one solve.")] = None,
    on_failure: Annotated[
        str | None, typer.Option(help="A solve that fails: raise (stop), cache (use the best known), skip (leave out).")
    ] = None,
    features: Annotated[Path | None, typer.Option(help="Model file: features (.csv, .parquet, .npz).")] = None,
    costs: Annotated[Path | None, typer.Option(help="Model file: true costs, a column a cost variable.")] = None,
    cost_variables: Annotated[
        list[str] | None,
        typer.Option(
            help="Model file: name or pattern, e.g. 'x_*', of the variables that costs belong to; repeatable."
        ),
    ] = None,
    validation: Annotated[float | None, typer.Option(help="Model file: share held out to stop on.")] = None,
    test: Annotated[float | None, typer.Option(help="Model file: share held out for the figures.")] = None,
    model: Annotated[str | None, typer.Option(help="Model file: linear or mlp, features standardised.")] = None,
    hidden: Annotated[int | None, typer.Option(help="Model file: units of the layer of mlp (32).")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="NAME=VALUE of the method, e.g. lambda_=0.1.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE of the problem, e.g. days=100.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run that is in the folder.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print figures as JSON.")] = False,
) -> None:
    """Train a model on a problem, or on your own model file and data, and keep the run in a folder."""
    defaults = training_defaults(problem, method)
    files = file_options(problem, features, costs, cost_variables, validation, test, model, hidden)
    spec = Spec(
        problem=problem,
        method=method,
        seed=seed,
        init=init,
        epochs=defaults["epochs"] if epochs is None else epochs,
        lr=defaults["lr"] if lr is None else lr,
        batch_size=defaults["batch_size"] if batch_size is None else batch_size,
        settings=defaults["settings"] | parse(set_) | given(p_solve=p_solve, grow_at=grow_at),
        options=parse(option) | files | given(split=split, engine=engine, time_limit=time_limit, on_failure=on_failure),
        patience=(PATIENCE if files.get("validation") else 0) if patience is None else patience,
    )
    if (out / "spec.json").exists() and not resume:
        raise InputError(f"there is a run in {out} already: add --resume to go on with it, or choose another folder")
    refuse_unwritable(out)
    # BenchmarkProblem before the folder is made: a wrong file leaves nothing behind.
    loaded = None if (out / "metrics.json").exists() else load_problem(spec, workers=workers)
    figures = run(spec, out, loaded=loaded, workers=workers)
    if json:
        print_json(figures)
        return
    _print(figures, f"{problem}, {method}, seed {seed}", out)


def _print(figures: dict[str, Any], title: str, out: Path) -> None:
    on = figures.get("on", "test")
    rows = [(name.replace("_", " "), number(figures[name])) for name in SHOWN if figures.get(name) is not None]
    print_table(f"{title}: {on} figures", ("figure", "value"), rows)
    if on != "test":
        what = "training data, which says nothing about new data" if on == "train" else "validation data"
        print(f"note: the figures are on the {what}; hold out a share with --test 0.2", file=sys.stderr)
    warn_of_inexact(figures)
    print(f"run kept in {out}")
