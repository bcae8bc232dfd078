"""The error for a file that is not there."""

from __future__ import annotations

import difflib
from pathlib import Path

from regretless.errors import FileError


def refuse_missing(path: Path) -> None:
    """Raise ``FileError`` if there is no such file, with the one that is probably meant."""
    if path.is_file():
        return
    folder = path.parent
    near = difflib.get_close_matches(path.name, [one.name for one in folder.iterdir()] if folder.is_dir() else [], n=1)
    raise FileError(f"there is no file {path}" + (f"; did you mean {folder / near[0]}?" if near else ""))
