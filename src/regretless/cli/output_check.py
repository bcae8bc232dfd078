"""Refuse an output that cannot be written, or that is one of the inputs, before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

from regretless.errors import FileError, InputError
from regretless.optional import need
from regretless.runs.run_folder import has_epochs, refuse_foreign

OURS = b'<meta name="generator" content="regretless">'
HEAD = 4096  # bytes of a page among which that is


def refuse_other_pages(out: Path) -> None:
    """Refuse to write a page over something else: a slip would replace a table, a model or a page of the user's own.

    Raises:
        InputError: the name does not end in .html.
        FileError: there is another page.
    """
    if out.suffix.lower() != ".html":
        raise InputError(f"--out is an HTML page, so its name must end in .html, got {out}")
    if out.is_file() and out.stat().st_size:
        with out.open("rb") as file:
            ours = OURS in file.read(HEAD)
        if not ours:
            raise FileError(f"{out} is no page of regretless, and would be overwritten: choose another file")


def refuse_overwriting(out: Path | None, *inputs: Path | None) -> None:
    """Raise ``InputError`` if ``out`` is the same file as one of the inputs; ``None`` is a file that was not given."""
    for path in inputs:
        if out is not None and path is not None and out.resolve() == path.resolve():
            raise InputError(f"{out} would be overwritten, and this command uses it: choose another file to write")


def refuse_unwritable(path: Path, *, folder: bool = True, option: str = "--out") -> None:
    """Raise ``FileError`` if a folder, or a file, cannot be made at ``path``, which was given with ``option``."""
    if path.exists() and path.is_dir() != folder:
        raise FileError(f"cannot write {path}: it is a {'file' if folder else 'folder'}; choose another {option}")
    place = path if folder else path.parent
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise FileError(f"cannot write {path}: {place} is not a writable folder; choose another {option}")


def refuse_taken(out: Path, *, resume: bool) -> None:
    """Refuse a folder that a new run cannot use, and one with a run in it, unless that is continued."""
    refuse_foreign(out)
    if has_epochs(out) and not resume:
        raise InputError(f"there is a run in {out} already: add --resume to continue it, or choose another folder")
    refuse_unwritable(out)


def need_report_packages() -> None:
    """Raise ``MissingDependencyError`` if a package is missing that the report or its charts need."""
    for package in ("jinja2", "matplotlib"):
        need(package, pip=package, why="write the report")
