"""``regretless train``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.cli import show
from regretless.cli import spec_options as options
from regretless.cli.output_check import refuse_taken
from regretless.cli.spec_options import refuse_for_auto
from regretless.paper.training_defaults import training_defaults
from regretless.runs import Spec, run
from regretless.runs.method_names import method_and_baseline
from regretless.runs.new_rows import training_rows_sentence
from regretless.runs.spec_check import check_spec
from regretless.search.train_method import refuse_unused

# The solves are not among them: a line of their own counts them by purpose.
SHOWN = (
    "regret", "two_stage_regret", "relative_regret", "mse", "auc", "epochs", "epoch_seconds", "lookups", "cache_size",
)  # fmt: skip
# Epochs without a better validation regret, where a share of the user's files is held out for that.
PATIENCE = 5


@options.problem_options
def train(
    problem: options.ProblemName,
    out: Annotated[Path, typer.Option(help="Folder to keep the run in.")],
    method: options.Method = "auto",
    p_solve: options.PSolve = None,
    grow_at: Annotated[
        str | None,
        typer.Option(help="Costs at which the cache solves: predicted (default), or transformed (those of the loss)."),
    ] = None,
    seed: options.Seed = 0,
    init: options.Init = "random",
    epochs: Annotated[
        int | None, typer.Option(help="Passes over the data. Default: that of the method on this problem.")
    ] = None,
    lr: Annotated[
        float | None, typer.Option(help="Learning rate of Adam. Default: that of the method on this problem.")
    ] = None,
    batch_size: options.BatchSize = None,
    patience: Annotated[
        int | None,
        typer.Option(
            help="Epochs without a better validation regret before training stops; 0: never. 5 with --validation."
        ),
    ] = None,
    start: Annotated[
        str,
        typer.Option(help="Initial weights: random (default), two-stage (default of auto), or the folder of a run."),
    ] = "",
    workers: options.Workers = None,
    executor: options.Executor = "threads",
    on_failure: options.OnFailure = None,
    set_: options.Set = None,
    option: options.Option = None,
    watch: Annotated[
        bool,
        typer.Option(help="Solve the test data after every epoch of a method, for the learning curve."),
    ] = True,
    resume: Annotated[bool, typer.Option(help="Continue the run that is in the folder.")] = False,
    json: options.Json = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Train a model on a problem, or on your own model file and data, and keep the run in a folder.

    Without --method, a search (auto) trains many methods and settings over one shared cache and averages the best.
    Options marked "Model file" are for a problem that is an .mps or .lp file.
    """
    defaults = training_defaults(problem, method)
    options.check_files(problem, chosen)
    if method == "auto":
        refuse_for_auto(
            lr=lr, epochs=epochs, patience=patience, validation=chosen.get("validation"), init=init, start=start
        )
    best_fit = method == "two-stage" and epochs is None and lr is None
    settings = ({"fit": "best"} if best_fit else {}) | defaults["settings"]
    settings |= options.parse(set_) | options.given(p_solve=p_solve, grow_at=grow_at)
    refuse_unused(method, settings, {"epochs": epochs, "lr": lr, "batch_size": batch_size, "patience": patience})
    spec = Spec(
        problem=problem,
        method=method,
        seed=seed,
        init=init,
        epochs=defaults["epochs"] if epochs is None else epochs,
        lr=defaults["lr"] if lr is None else lr,
        batch_size=defaults["batch_size"] if batch_size is None else batch_size,
        settings=settings,
        options=options.parse(option) | chosen | options.given(on_failure=on_failure),
        patience=(PATIENCE if chosen.get("validation") else 0) if patience is None else patience,
        watch=watch,
        start=start,
    )
    refuse_taken(out, resume=resume)
    check_spec(spec, workers=workers, executor=executor)  # a refused command prints one line, and no note before it
    show.warn_of_idle_workers(spec, workers, executor)
    figures = run(spec, out, workers=workers, executor=executor)
    if json:
        show.print_json(figures)
    else:
        print_figures(figures, spec, f"seed {seed}", out)


def print_figures(figures: dict[str, Any], spec: Spec, origin: str, out: Path) -> None:
    """Print what a run found, and where it is kept; ``origin`` is its seed, or the run that it goes on from."""
    on = figures.get("on", "test")
    method, baseline = method_and_baseline(spec.method, spec.settings)
    names = {name: show.figure_name(name) for name in SHOWN} | {"two_stage_regret": f"{baseline} regret"}
    table = [(names[name], figures[name]) for name in SHOWN if figures.get(name) is not None]
    data = {"train": "training"}.get(on, on)
    show.print_table(f"{spec.problem}, {method}, {origin}: {data} figures", ("figure", "value"), table)
    show.print_ledger(figures.get("ledger"))
    if columns := show.columns_read(out):
        print(columns)
    if rows := training_rows_sentence(figures):
        print(rows)
    if "verdict" in figures:
        print(f"{figures['verdict']} Chosen: {figures['chosen']}.")
    if on != "test":
        doubt = ", which says nothing about new data" if on == "train" else ""
        print(f"note: the figures are on the {data} data{doubt}; hold out a share with --test 0.2", file=sys.stderr)
    show.warn_of_inexact(figures)
    print(f"run kept in {out}")
