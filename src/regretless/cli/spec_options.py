"""Options that ``train`` and ``tune`` share, and the specification they make."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.errors import InputError
from regretless.problems import names as problem_names
from regretless.progress import write_lines
from regretless.tables import encoded_column
from regretless.tables.user_problem import is_model_file
from regretless.training import methods

ProblemName = Annotated[
    str, typer.Argument(help=f"One of {', '.join(problem_names())}, energy:PATH, or an .mps or .lp file.")
]
Method = Annotated[str, typer.Option(help=f"One of {', '.join(methods.names())}.")]
PSolve = Annotated[
    float | None,
    typer.Option(help="Probability that an instance is solved in a step, for methods with a cache. Default: 0.05."),
]
Init = Annotated[
    str,
    typer.Option(help="Random initial weights: random (another draw per seed) or shared (one draw for all seeds)."),
]
Seed = Annotated[
    int, typer.Option(help="Seed of the initial weights, the shuffling and the choice of instances to solve.")
]
BatchSize = Annotated[int | None, typer.Option(help="Instances per step. Default: that of the problem or the method.")]
Workers = Annotated[
    int | None, typer.Option(help="Instances that an engine solves at once. Default: one thread per core, at most 16.")
]
# Of commands that do many runs.
RunWorkers = Annotated[int | None, typer.Option(help="Runs at the same time. Default: one per core, at most 16.")]
RunExecutor = Annotated[
    str, typer.Option(help="Where runs are executed: processes (of this machine) or ray[:ADDRESS].")
]
Executor = Annotated[str, typer.Option(help="Where an engine's solves run: threads, processes or ray[:ADDRESS].")]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="NAME=VALUE: a setting of the method, e.g. lambda_=0.1; repeatable.")
]
Option = Annotated[
    list[str] | None, typer.Option(help="NAME=VALUE: an option of the problem, e.g. days=100; repeatable.")
]
OnFailure = Annotated[
    str | None,
    typer.Option(
        help="After a failed solve: raise (stop; default), cache (use the best cached solution), skip (leave out)."
    ),
]
_UNSEEN = "Category levels that did not occur in training: refuse (default), or other (none of the known ones)."
_CONSTRAINTS = "Model file: right-hand sides, bounds or known costs per instance (.csv, .xlsx, .parquet)."
Unseen = Annotated[encoded_column.Unseen | None, typer.Option(help=_UNSEEN)]
Constraints = Annotated[Path | None, typer.Option(help=_CONSTRAINTS)]
# Type and help of the options that ``problem_options`` gives to a command; they are names of options of problems.
SOLVER_OPTIONS: dict[str, tuple[Any, str]] = {
    "split": (str, "Split of the data: chronological (default of model files), random, or paper (the paper's data)."),
    "engine": (str, "highs (default of model files), scip, cpsat, gurobi, batched-lp, or oracle (the problem's own)."),
    "time_limit": (float, "Seconds per solve. Default: no limit."),
    "gap": (float, "Relative distance to the optimum at which a solve by an engine may end. Default: 0 (optimal)."),
}
FILE_OPTIONS: dict[str, tuple[Any, str]] = {
    "features": (
        Path,
        "Model file: features, a row per instance or per variable of an instance (.csv, .xlsx, .parquet, .npz).",
    ),
    "costs": (Path, "Model file: true costs, a column per cost variable or a row per variable of an instance."),
    "constraints": (Path, _CONSTRAINTS),
    "id": (
        str,
        "Model file: column that names the rows of all tables, such as date. Default: instance, or else the order.",
    ),
    "categories": (
        list[str],
        "Model file: column of features to read as a category although it holds numbers; repeatable.",
    ),
    "ignore": (list[str], "Model file: column to leave out of all tables, such as a comment; repeatable."),
    "missing": (str, "Model file: empty cells of the features: refuse (default), or fill (with the median)."),
    "unseen": (str, _UNSEEN),
    "cost_variables": (
        list[str],
        "Model file: name or pattern, e.g. 'x_*', of the variables with predicted costs; repeatable. "
        "Default: all variables in the objective.",
    ),
    "validation": (float, "Model file: share held out for early stopping or tuning. Default: 0."),
    "test": (float, "Model file: share held out for the test figures. Default: 0."),
    "model": (str, "Model file: linear, quadratic, splines or mlp. Default: linear; auto tries several."),
    "hidden": (int, "Model file: hidden units of the mlp. Default: 32."),
    "intercepts": (bool, "Model file: a constant per variable, for features per variable."),
}


def _as_data(json: bool) -> bool:
    write_lines(not json)  # a program reads the output
    return json


Json = Annotated[bool, typer.Option("--json", help="Print JSON.", callback=_as_data)]


def given(**options: Any) -> dict[str, Any]:
    """Leave out what was not given; paths become strings."""
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    return {name: value for name, value in plain.items() if value is not None and value != []}


def problem_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of problems: it receives those that the user gave as ``chosen``."""
    parameters = dict(inspect.signature(command, eval_str=True).parameters)
    del parameters["chosen"]
    options = SOLVER_OPTIONS | FILE_OPTIONS
    for name, (kind, text) in options.items():
        word: Any = Annotated[kind | None, typer.Option(f"--{name.replace('_', '-')}", help=text)]
        parameters[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=word)

    def with_options(**arguments: Any) -> None:
        command(chosen=given(**{name: arguments.pop(name) for name in options}), **arguments)

    with_options.__doc__ = command.__doc__
    with_options.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    with_options.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return with_options


def comma_list(text: str | None) -> list[str] | None:
    """Read names that are separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def parse(words: list[str] | None) -> dict[str, Any]:
    """Read ``["tau=0.1", "select=predicted"]``; values are numbers, true, false, null or text.

    >>> parse(["tau=0.1", "select=predicted"])
    {'tau': 0.1, 'select': 'predicted'}
    """
    settings: dict[str, Any] = {}
    for word in words or []:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"settings are written NAME=VALUE, got {word!r}")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def check_files(problem: str, chosen: dict[str, Any]) -> None:
    """Refuse a model file without data, data of the user's own for a problem by name, and an option without effect."""
    files = {name: value for name, value in chosen.items() if name in FILE_OPTIONS}
    if is_model_file(problem):
        missing = [f"--{name}" for name in ("features", "costs") if name not in files]
        if missing:
            raise InputError(f"{problem} is a model file: give its data with {' and '.join(missing)}")
        if "hidden" in files and files.get("model") != "mlp":
            raise InputError("--hidden is for the perceptron: add --model mlp, or leave --hidden out")
    elif files and (problem in problem_names() or problem.startswith("energy:")):  # other names are refused as such
        word = next(iter(files)).replace("_", "-")
        raise InputError(f"--{word} is for model files (.mps, .lp); the problem {problem!r} brings its own data")


def refuse_for_auto(
    *,
    lr: float | None = None,
    epochs: int | None = None,
    patience: int | None = None,
    validation: float | None = None,
    init: str = "random",
    start: str = "",
) -> None:
    """Raise ``InputError`` for an option of one training that is given to a search; ``None`` was not given.

    A search chooses learning rate and settings by folds of the training data, so it needs no validation data, and it
    starts from two-stage weights unless ``start`` is ``random``.
    """
    for name, value in (("lr", lr), ("patience", patience), ("validation", validation)):
        if value:
            raise InputError(
                f"method 'auto' chooses by folds of the training data: leave out --{name}, or name a method (--method)"
            )
    if epochs == 0:
        raise InputError("method 'auto' needs at least one epoch: leave out --epochs, and the search chooses")
    if init != "random" and start != "random":
        raise InputError(f"method 'auto' starts from two-stage weights: leave out --init {init}, or add --start random")
