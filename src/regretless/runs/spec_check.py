"""Everything that a specification can get wrong, checked before a problem is loaded, solved or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regretless.errors import InputError
from regretless.number_checks import check_number
from regretless.optional import need
from regretless.problems.problem_table import check_options, loader, options_of
from regretless.runs.run_folder import WEIGHTS
from regretless.runs.spec import STARTS, Spec
from regretless.search.check_settings import check_settings
from regretless.solvers.executors import checked_workers, parse_executor
from regretless.tables.user_problem import is_model_file


def check_spec(spec: Spec, *, workers: int | None = 1, executor: str = "threads") -> None:
    """Refuse a run that cannot be done: options of the problem, settings of the method, engine and packages.

    Raises:
        InputError: a setting that is unknown or out of range.
        MissingDependencyError: a package that the run needs is not installed.
    """
    need("safetensors.torch", pip="safetensors", why="write weights and checkpoints")
    checked_workers(workers)
    parse_executor(executor)
    function = loader(spec.problem)
    options = dict(spec.options)
    common: dict[str, Any] = {"on_failure": options.pop("on_failure", "raise"), "workers": workers}
    check_options(spec.problem, function, options)
    if spec.patience and is_model_file(spec.problem) and not options.get("validation"):
        raise InputError(f"patience needs validation data, and none of {spec.problem} are held out: add --validation")
    if spec.method == "auto" and spec.start not in STARTS:
        raise InputError(f"method 'auto' starts from 'two-stage' or 'random' weights, got {spec.start!r}")
    if spec.start not in STARTS and not (Path(spec.start) / WEIGHTS).is_file():
        raise InputError(f"start must be 'two-stage', 'random' or the folder of a finished run, got {spec.start!r}")
    common["time_limit"] = options.get("time_limit")
    if gap := check_number("gap", options.get("gap", 0.0), least=0, most=1):
        if engine_of(spec) == "oracle":
            raise InputError(f"--gap is for engines, and the solver of {spec.problem} is its own: add --engine highs")
        common["gap"] = gap
    check_settings(spec.method, spec.settings, engine=engine_of(spec), **common)


def engine_of(spec: Spec) -> str:
    """Return the engine that solves a run's problem; ``oracle`` for the problem's own."""
    return str(spec.options.get("engine", options_of(loader(spec.problem))["engine"].default))
