"""``regretless evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.show import number, print_json, print_table
from regretless.errors import InputError
from regretless.experiments import trained
from regretless.training import evaluate as exact_evaluation


def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    on: Annotated[str, typer.Option(help="Part of the data: test, validation or train.")] = "test",
    workers: Annotated[int, typer.Option(help="Solver threads.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print figures as JSON.")] = False,
) -> None:
    """Evaluate a trained model exactly: its regret, relative regret and prediction error."""
    if on not in ("test", "validation", "train"):
        raise InputError(f"--on must be test, validation or train, got {on!r}")
    spec, loaded, model = trained(run, workers=workers)
    data = getattr(loaded, on)
    if data is None:
        raise InputError(f"the split of {spec.problem} has no {on} data")
    result = exact_evaluation(model, data, loaded.problem).as_dict()
    if json:
        print_json(result | {"problem": spec.problem, "method": spec.method, "on": on})
        return
    rows = [(name.replace("_", " "), number(value)) for name, value in result.items() if value is not None]
    print_table(f"{spec.problem}, {spec.method}, {on} data", ("figure", "value"), rows)
