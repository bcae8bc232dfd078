"""Refuse an output that is one of the inputs, before any work is done."""

from __future__ import annotations

from pathlib import Path

from regretless.errors import InputError


def refuse_overwriting(out: Path | None, *inputs: Path | None) -> None:
    """Raise ``InputError`` if ``out`` is the same file as one of the inputs; ``None`` is a file that was not given."""
    for path in inputs:
        if out is not None and path is not None and out.resolve() == path.resolve():
            raise InputError(f"{out} would overwrite {path}, which this command uses: choose another file to write")
