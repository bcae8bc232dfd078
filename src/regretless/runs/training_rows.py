"""How many rows of the training data are new in a run that goes on from another: as figures, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def training_rows(now: int, before: int, known: int, *, released: bool) -> dict[str, int]:
    """Count the training rows of a run that goes on from another.

    Args:
        now, before: training rows of this run and of the other one.
        known: rows of the other run, held-out ones included.
        released: whether rows that the other run held out come first among the new ones, as in a chronological split.
    """
    new = now - before
    held_out = min(new, known - before) if released else 0
    return {"training_rows": now, "training_rows_new": new, "training_rows_held_out_before": held_out}


def training_rows_sentence(figures: Mapping[str, Any]) -> str:
    """What the counts among the figures of a run say; empty for a run that does not go on from another.

    >>> training_rows_sentence(training_rows(58, 48, 60, released=True))
    'Training data: 58 rows, 10 of them new since the old run (10 that it held out, 0 that it did not have).'
    """
    now, new, held_out = (figures.get(name) for name in training_rows(0, 0, 0, released=False))
    if not (isinstance(now, int) and isinstance(new, int) and isinstance(held_out, int)):
        return ""
    of_new = f" ({held_out:,} that it held out, {new - held_out:,} that it did not have)" if held_out else ""
    return f"Training data: {now:,} rows, {new:,} of them new since the old run{of_new}."
