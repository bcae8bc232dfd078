"""``regretless retrain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regretless.cli import spec_options as options
from regretless.cli.output_check import refuse_taken
from regretless.cli.show import print_json
from regretless.cli.spec_options import refuse_for_auto
from regretless.cli.train import print_figures
from regretless.runs.retrain import go_on, retrain_spec


def retrain(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run on a model file; it is not changed.")],
    features: Annotated[Path, typer.Option(help="Features of the new rows (.csv, .xlsx, .parquet, .npz).")],
    costs: Annotated[Path, typer.Option(help="True costs of the new rows.")],
    out: Annotated[Path, typer.Option(help="Folder to keep the new run in.")],
    constraints: options.Constraints = None,
    unseen: options.Unseen = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the data. Default: as in the first run.")] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate of Adam. Default: as in the first run.")] = None,
    workers: options.Workers = None,
    executor: options.Executor = "threads",
    resume: Annotated[bool, typer.Option(help="Continue the run that is in the folder.")] = False,
    json: options.Json = False,
) -> None:
    """Continue a run with more data: from its weights, its cache and its labels (true optima).

    Labels are computed for new rows only.
    """
    files = options.given(features=features, costs=costs, constraints=constraints, unseen=unseen)
    spec = retrain_spec(run, files, **options.given(epochs=epochs, lr=lr))
    if spec.method == "auto":
        refuse_for_auto(lr=lr, epochs=epochs)
    refuse_taken(out, resume=resume)
    figures = go_on(spec, out, workers=workers, executor=executor)
    if json:
        print_json(figures)
    else:
        print_figures(figures, spec, f"from {run}", out)
