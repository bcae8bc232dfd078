"""Levels of a category that differ in case or spaces only: probably one level, written in two ways."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from regretless.errors import RegretlessWarning
from regretless.listing import folded, listed
from regretless.tables.cells import Cells


def warn_of_two_cases(cells: Cells, column: str, levels: Sequence[str]) -> None:
    """Warn of the first two levels of training that are alike."""
    first: dict[str, str] = {}
    for level in levels:
        other = first.setdefault(folded(level), level)
        if other != level:
            said = f"{other!r} and {level!r} count as two categories: write them in one way if they are one"
            warnings.warn(str(cells.error(said, column=column)), RegretlessWarning, stacklevel=4)
            return


def warn_of_alike(cells: Cells, column: str, unknown: Mapping[str, int], known: Sequence[str]) -> None:
    """Warn of levels that are none of those of training, but like one of them; once for all rows.

    Args:
        cells, column: where they are.
        unknown: levels that are accepted as unknown ones, each with its first row.
        known: the levels of training.
    """
    meant = {folded(level): level for level in known}
    pairs = [(level, meant[folded(level)]) for level in unknown if folded(level) in meant]
    if pairs:
        words = listed([f"{level!r} is probably {other!r}" for level, other in pairs], most=3)
        said = f"accepted as none of the known levels: {words}; write a level as in training if it is the same"
        warnings.warn(str(cells.error(said, row=unknown[pairs[0][0]], column=column)), RegretlessWarning, stacklevel=4)
