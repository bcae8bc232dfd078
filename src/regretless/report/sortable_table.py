"""A table of the page, as plain data: a click on a heading sorts it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A heading; ``explain`` is shown when it is pointed at."""

    title: str
    numeric: bool = True
    explain: str = ""


@dataclass(frozen=True)
class Cell:
    """What a cell shows, the number it is sorted by, and its marks; ``outside`` means outside the tolerance."""

    text: str
    value: float | None = None
    deviation: str = ""
    warning: str = ""
    best: bool = False
    outside: bool = False

    @property
    def sort_key(self) -> str | None:
        """The value as the script of the page reads it; ``None`` sorts last."""
        return repr(self.value) if self.value is not None and math.isfinite(self.value) else None


@dataclass(frozen=True)
class SortableTable:
    """Columns and rows; the first cell of a row names it, and the caption is read aloud."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
