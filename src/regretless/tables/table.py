"""What a table of numbers is, whatever file it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from regretless.errors import FileError, InputError
from regretless.milp import Floats

SUFFIXES = (".csv", ".parquet", ".npz")
# These say which row belongs to what, so they may be words; every other column is a number.
KEYS = ("instance", "variable")


@dataclass(frozen=True, eq=False)
class Table:
    """A file's rows.

    Attributes:
        path: of the file, for messages.
        names: of the numeric columns.
        values: ``(rows, columns)`` finite numbers.
        keys: the columns ``instance`` and ``variable`` as text, where the file has them.
        lines: where each row stands in the file, for messages.
    """

    path: Path
    names: tuple[str, ...]
    values: Floats
    keys: dict[str, tuple[str, ...]]
    lines: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)


def suffix_of(path: Path | str) -> str:
    """Return ``.csv``, ``.parquet`` or ``.npz``; any other ending is an error that names the three."""
    ending = Path(path).suffix.lower()
    if ending not in SUFFIXES:
        raise InputError(f"{path}: a file of data must end in {', '.join(SUFFIXES)}")
    return ending


def refuse_missing(path: Path) -> None:
    """Raise ``FileError`` where there is no such file."""
    if not path.is_file():
        raise FileError(f"there is no file {path}")
