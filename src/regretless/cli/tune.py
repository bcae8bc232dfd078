"""``regretless tune``."""

from __future__ import annotations

import json as json_text
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.cli import spec_options as options
from regretless.cli.output_check import refuse_unwritable
from regretless.cli.show import number, print_json, print_ledger, print_table, warn_of_idle_workers
from regretless.errors import InputError
from regretless.paper.training_defaults import training_defaults
from regretless.runs import Spec
from regretless.runs.run_folder import has_labels
from regretless.runs.spec_check import check_spec
from regretless.runs.trials import LOG
from regretless.runs.tune import searched, tune_settings
from regretless.tables.user_problem import is_model_file
from regretless.training import methods


@options.problem_options
def tune(
    problem: options.ProblemName,
    out: Annotated[Path, typer.Option(help="Folder that keeps the search; the same command continues it.")],
    method: Annotated[
        str, typer.Option(help=f"One of {', '.join(name for name in methods.names() if name != 'auto')}.")
    ] = "map-dc",
    trials: Annotated[
        int, typer.Option(help="Number of settings to try, including those of an interrupted search.")
    ] = 50,
    most_epochs: Annotated[int, typer.Option(help="Largest number of epochs to try.")] = 40,
    with_p_solve: Annotated[bool, typer.Option(help="Also search p_solve.")] = False,
    p_solve: options.PSolve = None,
    seed: options.Seed = 0,
    batch_size: options.BatchSize = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="With --executor threads: instances solved at the same time, by default one per core. Otherwise: "
            "trials at the same time, by default 1."
        ),
    ] = None,
    executor: Annotated[
        str,
        typer.Option(help="threads (one trial after another), processes or ray[:ADDRESS] (--workers trials at once)."),
    ] = "threads",
    set_: options.Set = None,
    option: options.Option = None,
    json: options.Json = False,
    *,
    chosen: dict[str, Any],
) -> None:
    """Search for the settings with the lowest validation regret (Optuna). Test data are not used.

    Options marked "Model file" are for a problem that is an .mps or .lp file.
    """
    options.check_files(problem, chosen)
    if method == "auto":
        raise InputError(
            "method 'auto' needs no tuning, it searches its settings itself: train with it, or tune another"
        )
    defaults = training_defaults(problem, method)
    # As in train, whose command is printed: defaults hold where nothing else is given or searched.
    fixed = {name: value for name, value in defaults["settings"].items() if name not in searched(method)}
    spec = Spec(
        problem=problem,
        method=method,
        seed=seed,
        batch_size=defaults["batch_size"] if batch_size is None else batch_size,
        settings=fixed | options.parse(set_) | options.given(p_solve=p_solve),
        options=options.parse(option) | chosen,
    )
    refuse_unwritable(out)
    check_spec(spec, workers=workers)  # a refused command prints one line, and no note before it
    if executor == "threads":
        warn_of_idle_workers(spec, workers)
    try:
        found = tune_settings(
            spec, out, workers=workers, executor=executor, trials=trials, most_epochs=most_epochs,
            with_p_solve=with_p_solve, progress=False if json else None,
        )  # fmt: skip
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(_kept(out)) from stop
    command = train_command(found.spec)
    if json:
        figures = {"validation_regret": found.regret, "trials": found.trials, "failed": found.failed}
        print_json({"best": found.spec.as_dict(), **figures, "ledger": found.ledger, "command": command})
        return
    rows: list[tuple[str, Any]] = [("validation regret", number(found.regret))]
    if methods.method(method).search is None:
        rows += [("lr", number(found.spec.lr)), ("epochs", number(found.spec.epochs))]
    rows += [(name, number(value)) for name, value in found.spec.settings.items()]
    title = f"{problem}, {method}: best of {found.trials} settings ({found.failed} diverged)"
    print_table(title, ("setting", "value"), rows)
    print_ledger(found.ledger)
    print(f"train with:\n  {command}")


def _kept(out: Path) -> str:
    """What an interrupted search leaves: its log is there if a trial has ended."""
    if (out / LOG).is_file():
        return f"interrupted: the trials that ended are kept in {out}, and the same command continues the search"
    if has_labels(out):
        return f"interrupted: {out} keeps the labels (true optima) solved so far, and the same command continues"
    return "interrupted before a trial had ended: nothing was kept"


def train_command(spec: Spec) -> str:
    """The command that trains a specification."""
    words = ["regretless", "train", spec.problem, "--method", spec.method, "--seed", str(spec.seed)]
    if methods.method(spec.method).search is None:
        words += ["--lr", repr(spec.lr), "--epochs", str(spec.epochs)]
        words += [] if spec.batch_size is None else ["--batch-size", str(spec.batch_size)]
    for name, value in spec.settings.items():
        words += ["--set", f"{name}={value if isinstance(value, str) else json_text.dumps(value)}"]
    for name, value in spec.options.items():
        if name in (*options.SOLVER_OPTIONS, "on_failure") or (
            is_model_file(spec.problem) and name in options.FILE_OPTIONS
        ):
            word = f"--{name.replace('_', '-')}"
            for one in value if isinstance(value, list) else [value]:
                words += [word] if one is True else [word, str(one)]
        else:
            words += ["--option", f"{name}={value if isinstance(value, str) else json_text.dumps(value)}"]
    # The settings were chosen for training to the end.
    words += ["--patience", "0"] if spec.options.get("validation") else []
    return shlex.join([*words, "--out", "RUN"])
