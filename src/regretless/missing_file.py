"""The error for a file that is not there."""

from __future__ import annotations

import difflib
from contextlib import suppress
from pathlib import Path

from regretless.errors import FileError


def refuse_missing(path: Path) -> None:
    """Raise ``FileError`` if there is no such file, with the one that is probably meant."""
    if path.is_file():
        return
    if path.is_dir():
        raise FileError(f"{path} is a folder: give the path of a file")
    names: list[str] = []
    with suppress(OSError):  # a folder that is not there, or that cannot be read
        names = [one.name for one in path.parent.iterdir() if one.is_file()]
    near = difflib.get_close_matches(path.name, names, n=1)
    raise FileError(f"there is no file {path}" + (f"; did you mean {path.parent / near[0]}?" if near else ""))
