"""Options of commands that take a model file with the user's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regretless.errors import InputError
from regretless.tables.user_problem import is_model_file


def given(**options: Any) -> dict[str, Any]:
    """Leave out what was not given."""
    return {name: value for name, value in options.items() if value is not None}


def file_options(
    problem: str,
    features: Path | None,
    costs: Path | None,
    cost_variables: list[str] | None,
    validation: float | None = None,
    test: float | None = None,
    model: str | None = None,
    hidden: int | None = None,
) -> dict[str, Any]:
    """Collect the options of a model file; a problem by name has none of them.

    Raises:
        InputError: a model file without data, or a problem by name with some.
    """
    options = given(
        features=None if features is None else str(features),
        costs=None if costs is None else str(costs),
        cost_variables=cost_variables or None,
        validation=validation,
        test=test,
        model=model,
        hidden=hidden,
    )
    if is_model_file(problem):
        missing = [f"--{name}" for name in ("features", "costs") if name not in options]
        if missing:
            raise InputError(f"{problem} is a model file: give its data with {' and '.join(missing)}")
    elif options:
        word = next(iter(options)).replace("_", "-")
        raise InputError(f"--{word} is for model files (.mps, .lp); the problem {problem!r} brings its own data")
    return options
