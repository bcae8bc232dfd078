"""``regretless evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.cli.inexact import warn_of_inexact
from regretless.cli.show import number, print_json, print_table
from regretless.errors import InputError
from regretless.runs import Spec, trained
from regretless.runs.decide import decider
from regretless.storage import read_json
from regretless.tables.saved_problem import has_saved_problem, load_saved_problem
from regretless.tables.user_problem import digest
from regretless.training import evaluate as exact_evaluation


def evaluate(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    on: Annotated[str | None, typer.Option(help="Part of the run's own data: test, validation or train.")] = None,
    features: Annotated[Path | None, typer.Option(help="Other data: features (.csv, .parquet, .npz).")] = None,
    costs: Annotated[Path | None, typer.Option(help="Other data: true costs, a column a cost variable.")] = None,
    workers: Annotated[int, typer.Option(help="Solver threads.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print figures as JSON.")] = False,
) -> None:
    """Evaluate a trained model exactly: its regret, relative regret and prediction error."""
    if on not in (None, "test", "validation", "train"):
        raise InputError(f"--on must be test, validation or train, got {on!r}")
    if (features is None) != (costs is None):
        raise InputError("--features and --costs go together: regret needs both")
    if features is None or costs is None:
        spec, result, where = _own_data(run, on or "test", workers)
    elif on is not None:
        raise InputError("--on is for the run's own data: leave it out with --features and --costs")
    else:
        ready = decider(run, workers=workers)
        spec, where = Spec.from_dict(read_json(run / "spec.json")), str(features)
        result = exact_evaluation(ready.model, ready.labelled(features, costs), ready.problem).as_dict()
    warn_of_inexact(result)
    if json:
        print_json(result | {"problem": spec.problem, "method": spec.method, "on": where})
        return
    rows = [(name.replace("_", " "), number(value)) for name, value in result.items() if value is not None]
    print_table(f"{spec.problem}, {spec.method}, {where} data", ("figure", "value"), rows)


def _own_data(run: Path, on: str, workers: int) -> tuple[Spec, dict[str, Any], str]:
    """Figures on a part of the data that the run was made from."""
    if has_saved_problem(run):
        _refuse_changed(run)
    spec, loaded, model = trained(run, workers=workers)
    data = getattr(loaded, on)
    if data is None or (on == "test" and loaded.evaluated_on != "test"):
        raise InputError(f"the split of {spec.problem} has no {on} data: use --on, or give --features and --costs")
    return spec, exact_evaluation(model, data, loaded.problem).as_dict(), on


def _refuse_changed(run: Path) -> None:
    """The shares of a split mean nothing in files that are gone or no longer the same."""
    kept, spec = load_saved_problem(run), Spec.from_dict(read_json(run / "spec.json"))
    paths = {"model": spec.problem, "features": spec.options.get("features"), "costs": spec.options.get("costs")}
    for role, known in (kept.files or {}).items():
        path = Path(str(paths[role]))
        if not path.is_file() or digest(path) != known:
            state = "changed since training" if path.is_file() else "not there any more"
            raise InputError(f"{path} is {state}: give data to evaluate on with --features and --costs")
