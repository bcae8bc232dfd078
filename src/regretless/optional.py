"""Optional packages: their import, with the pip command that installs them, and their versions."""

from __future__ import annotations

import importlib
from functools import cache
from importlib import metadata
from typing import Any

from regretless.errors import MissingDependencyError


def need(module: str, *, pip: str, why: str) -> Any:
    """Import ``module``; if it is missing, say what it is needed for and how to install it.

    Args:
        module: the name to import.
        pip: the argument of ``pip install``.
        why: what the package is needed for, after "to".

    Raises:
        MissingDependencyError: the package is not installed; with the pip command.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if was_interrupted(error):
            raise KeyboardInterrupt from error
        raise MissingDependencyError(
            f"the package '{module.partition('.')[0]}' is needed to {why}, and importing it failed ({error}); "
            f"install it with: pip install '{pip}'"
        ) from error


def need_ray() -> Any:
    """Import Ray, which three modules need."""
    return need("ray", pip="ray>=2.40", why="run on Ray")


def was_interrupted(error: ImportError) -> bool:
    """Whether Ctrl-C ended the import of a compiled module, which reports it as a failed import."""
    return isinstance(error.__cause__ or error.__context__, KeyboardInterrupt)


@cache
def version_of(distribution: str) -> str | None:
    """Version of an installed distribution; ``None`` where there is none of this name."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
