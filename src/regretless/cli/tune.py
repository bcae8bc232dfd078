"""``regretless tune``."""

from __future__ import annotations

import json as json_text
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.cli.file_options import file_options, given
from regretless.cli.settings import parse
from regretless.cli.show import number, print_json, print_table
from regretless.cli.writable import refuse_unwritable
from regretless.paper.training_defaults import training_defaults
from regretless.runs import Spec
from regretless.runs.run import load_problem
from regretless.runs.tune import tune as search
from regretless.tables.user_problem import is_model_file
from regretless.training import methods


def tune(
    problem: Annotated[str, typer.Argument(help="A problem by name, or an .mps or .lp file.")],
    out: Annotated[Path, typer.Option(help="Folder that keeps the search; the same command goes on with it.")],
    method: Annotated[str, typer.Option(help=f"One of {', '.join(methods.names())}.")] = "map-dc",
    trials: Annotated[int, typer.Option(help="Settings to try, earlier ones included.")] = 50,
    most_epochs: Annotated[int, typer.Option(help="Upper end of the range of epochs.")] = 40,
    with_p_solve: Annotated[bool, typer.Option(help="Also search p_solve.")] = False,
    p_solve: Annotated[float | None, typer.Option(help="Probability of a solve, for cached methods (0.05).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search, first weights, shuffling and coin.")] = 0,
    batch_size: Annotated[int | None, typer.Option(help="Instances a step.")] = None,
    split: Annotated[str | None, typer.Option(help="Split of the data; it must have validation data.")] = None,
    engine: Annotated[str | None, typer.Option(help="oracle (special, exact), highs, scip, cpsat or gurobi.")] = None,
    workers: Annotated[int, typer.Option(help="Solver threads.")] = 1,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for one solve.")] = None,
    features: Annotated[Path | None, typer.Option(help="Model file: features (.csv, .parquet, .npz).")] = None,
    costs: Annotated[Path | None, typer.Option(help="Model file: true costs, a column a cost variable.")] = None,
    cost_variables: Annotated[list[str] | None, typer.Option(help="Model file: name or pattern; repeatable.")] = None,
    validation: Annotated[float | None, typer.Option(help="Model file: share to tune on.")] = None,
    test: Annotated[float | None, typer.Option(help="Model file: share that is never looked at.")] = None,
    model: Annotated[str | None, typer.Option(help="Model file: linear or mlp.")] = None,
    hidden: Annotated[int | None, typer.Option(help="Model file: units of the layer of mlp (32).")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="NAME=VALUE of the method, kept fixed.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="NAME=VALUE of the problem, e.g. days=100.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Search for the settings with the lowest validation regret; the test data are never looked at."""
    files = file_options(problem, features, costs, cost_variables, validation, test, model, hidden)
    spec = Spec(
        problem=problem,
        method=method,
        seed=seed,
        batch_size=training_defaults(problem, method)["batch_size"] if batch_size is None else batch_size,
        settings=parse(set_) | given(p_solve=p_solve),
        options=parse(option) | files | given(split=split, engine=engine, time_limit=time_limit),
    )
    refuse_unwritable(out)
    loaded = load_problem(spec, workers=workers)
    found = search(
        spec, loaded, out, trials=trials, most_epochs=most_epochs, with_p_solve=with_p_solve,
        progress=False if json else None,
    )  # fmt: skip
    command = train_command(found.spec)
    if json:
        figures = {"validation_regret": found.regret, "trials": found.trials, "failed": found.failed}
        print_json({"best": found.spec.as_dict(), **figures, "command": command})
        return
    rows: list[tuple[str, Any]] = [("validation regret", number(found.regret))]
    if methods.method(method).search is None:
        rows += [("lr", number(found.spec.lr)), ("epochs", number(found.spec.epochs))]
    rows += [(name, number(value)) for name, value in found.spec.settings.items()]
    title = f"{problem}, {method}: best of {found.trials} settings ({found.failed} diverged)"
    print_table(title, ("setting", "value"), rows)
    print(f"train with:\n  {command}")


def train_command(spec: Spec) -> str:
    """The command that trains a specification."""
    words = ["regretless", "train", spec.problem, "--method", spec.method, "--seed", str(spec.seed)]
    if methods.method(spec.method).search is None:
        words += ["--lr", repr(spec.lr), "--epochs", str(spec.epochs)]
    words += [] if spec.batch_size is None else ["--batch-size", str(spec.batch_size)]
    for name, value in spec.settings.items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json_text.dumps(value)}"]
    of_files = ("features", "costs", "validation", "test", "model", "hidden", "cost_variables")
    for name, value in spec.options.items():
        if is_model_file(spec.problem) and name in of_files:
            for one in value if isinstance(value, list) else [value]:
                words += [f"--{name.replace('_', '-')}", str(one)]
        else:
            words += ["--option", f"{name}={value if isinstance(value, str) else json_text.dumps(value)}"]
    # The settings were chosen for training to the end.
    words += ["--patience", "0"] if spec.options.get("validation") else []
    return shlex.join([*words, "--out", "RUN"])
