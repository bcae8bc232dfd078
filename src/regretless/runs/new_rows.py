"""Rows of files before their optima are solved, which of them a run has already, and how many are new in training."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regretless.data import Dataset
from regretless.errors import InputError, RegretlessWarning
from regretless.tables.row_names import row_key


@dataclass(frozen=True, eq=False)
class Rows:
    """Instances without their true optima.

    Attributes:
        features: ``(n, ...)`` as the model takes them.
        costs: ``(n, d)`` true costs in the user's sense, float64.
        instance: ``(n,)`` ids of members, for families.
        names: of the n instances; ``None`` where the files have none.
    """

    features: Tensor
    costs: Tensor
    instance: Tensor | None
    names: tuple[str, ...] | None

    def __len__(self) -> int:
        return len(self.costs)

    def at(self, positions: Sequence[int]) -> Rows:
        """Some of the rows."""
        keep = torch.tensor(list(positions), dtype=torch.int64)
        return Rows(
            self.features[keep],
            self.costs[keep],
            None if self.instance is None else self.instance[keep],
            None if self.names is None else tuple(self.names[i] for i in positions),
        )


def unknown(rows: Rows, known: Dataset, *, source: str, run: str) -> Rows:
    """The rows of ``source`` that a run does not have: by name where both have names, else by features, costs, member.

    Warnings count the others, those of them that hold other numbers in the run, and new ones that hold the numbers of
    a row of the run under another name.

    Raises:
        InputError: the run has all rows.
    """
    here, there = _contents(rows), _contents(known)
    had, changed, renamed = set(there), 0, 0
    if rows.names is None or known.names is None:
        new = [i for i, content in enumerate(here) if content not in had]
    else:
        content_of = dict(zip(map(row_key, known.names), there, strict=True))
        keys = [row_key(name) for name in rows.names]
        new = [i for i, key in enumerate(keys) if key not in content_of]
        changed = sum(content_of.get(key, content) != content for key, content in zip(keys, here, strict=True))
        renamed = sum(here[i] in had for i in new)
    if renamed:
        said = (
            f"{renamed} new rows of {source} have the features and costs of rows of {run} under other names: if they "
            "are the same rows, name them as there, or they count twice"
        )
        warnings.warn(said, RegretlessWarning, stacklevel=2)
    if len(new) == len(rows):
        return rows
    others = ""
    if changed:
        others = (
            f"; {changed} of them hold other numbers there, which are kept: correct the names if the rows are others, "
            "or train a new run on all rows if the numbers were corrected"
        )
    if not new:
        raise InputError(f"{run} has all {len(rows)} rows of {source} already: give rows that are new{others}")
    said = f"{len(rows) - len(new)} of {len(rows)} rows of {source} are in {run} already and are left out{others}"
    warnings.warn(said, RegretlessWarning, stacklevel=2)
    return rows.at(new)


def _contents(rows: Rows | Dataset) -> list[bytes]:
    """The numbers of each row, as one key."""
    parts = [rows.features.flatten(1).to(torch.float64), rows.costs]
    if rows.instance is not None:
        parts.append(rows.instance[:, None].to(torch.float64))
    return [row.tobytes() for row in (torch.cat(parts, dim=1) + 0.0).numpy()]  # -0.0 is 0.0


def training_rows(now: int, before: int, known: int, *, released: bool) -> dict[str, int]:
    """Count the training rows of a run that goes on from another, which had ``before``, of ``known`` rows in all.

    ``released`` is whether rows that it held out come first among the new ones, as in a chronological split.
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
