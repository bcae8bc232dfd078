"""Refuse an output that is one of the inputs, before any work is done."""

from __future__ import annotations

from pathlib import Path

from regretless.errors import InputError


def refuse_other_pages(out: Path) -> None:
    """Raise ``InputError`` if the name of a page does not end in .html: a slip would replace a table or a model."""
    if out.suffix.lower() != ".html":
        raise InputError(f"--out is an HTML page, so its name must end in .html, got {out}")


def refuse_overwriting(out: Path | None, *inputs: Path | None) -> None:
    """Raise ``InputError`` if ``out`` is the same file as one of the inputs; ``None`` is a file that was not given."""
    for path in inputs:
        if out is not None and path is not None and out.resolve() == path.resolve():
            raise InputError(f"{out} would be overwritten, and this command uses it: choose another file to write")
