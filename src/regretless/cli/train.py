"""``regretless train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.cli.settings import parse
from regretless.cli.show import number, print_json, print_table
from regretless.errors import InputError
from regretless.experiments import Spec, run
from regretless.experiments.defaults import training_defaults
from regretless.problems import names as problems
from regretless.training import methods


def train(
    problem: Annotated[str, typer.Argument(help=f"One of {', '.join(problems())}, or energy:PATH.")],
    out: Annotated[Path, typer.Option(help="Folder to keep the run in.")],
    method: Annotated[str, typer.Option(help=f"One of {', '.join(methods.names())}.")] = "map-dc",
    p_solve: Annotated[float | None, typer.Option(help="Probability of a solve, for cached methods (0.05).")] = None,
    grow_at: Annotated[str | None, typer.Option(help="Where the cache solves: predicted or transformed.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of first weights, shuffling and coin.")] = 0,
    init: Annotated[str, typer.Option(help="First weights: random (by seed) or shared by all seeds.")] = "random",
    epochs: Annotated[int | None, typer.Option(help="Passes over the data.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of Adam.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Instances a step.")] = None,
    patience: Annotated[int, typer.Option(help="Stop after so many epochs with no better validation regret.")] = 0,
    split: Annotated[str | None, typer.Option(help="Split of the data: paper, chronological or random.")] = None,
    engine: Annotated[str | None, typer.Option(help="oracle (special, exact), or highs for the generic MILP.")] = None,
    workers: Annotated[int, typer.Option(help="Solver threads.")] = 1,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for one solve.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="NAME=VALUE of the method, e.g. lambda_=0.1.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE of the problem, e.g. days=100.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run that is in the folder.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print figures as JSON.")] = False,
) -> None:
    """Train a model on a problem and keep the run in a folder."""
    defaults = training_defaults(problem, method)
    settings = defaults["settings"] | parse(set_) | _given(p_solve=p_solve, grow_at=grow_at)
    spec = Spec(
        problem=problem,
        method=method,
        seed=seed,
        init=init,
        epochs=defaults["epochs"] if epochs is None else epochs,
        lr=defaults["lr"] if lr is None else lr,
        batch_size=batch_size,
        settings=settings,
        options=parse(option) | _given(split=split, engine=engine, time_limit=time_limit),
        patience=patience,
    )
    if (out / "spec.json").exists() and not resume:
        raise InputError(f"there is a run in {out} already: add --resume to go on with it, or choose another folder")
    figures = run(spec, out, workers=workers)
    if json:
        print_json(figures)
        return
    shown = ("regret", "relative_regret", "mse", "auc", "epochs", "epoch_seconds", "solves", "lookups", "cache_size")
    rows = [(name.replace("_", " "), number(figures[name])) for name in shown if figures.get(name) is not None]
    print_table(f"{problem}, {method}, seed {seed}: test figures", ("figure", "value"), rows)
    if figures["failed"] or figures["not_optimal"]:
        print(f"warning: {figures['failed']} solves failed, {figures['not_optimal']} labels are not optimal")
    print(f"run kept in {out}")


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
