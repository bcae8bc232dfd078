"""How one column of a table becomes features: learned from training rows, and applied to the cells of any table."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from regretless.errors import InputError
from regretless.listing import listed, meant
from regretless.milp import Floats
from regretless.tables.alike_levels import warn_of_alike, warn_of_two_cases
from regretless.tables.calendar_parts import OF_DATE, OF_TIME, parts_of
from regretless.tables.cells import Cells
from regretless.tables.column_kinds import Kind, is_empty, kind_of, values_of
from regretless.tables.decimal_marks import Mark
from regretless.tables.training_range import Range, range_of

Missing = Literal["refuse", "fill"]
Unseen = Literal["refuse", "other"]
# A level that fewer rows have than this share joins the other rare ones.
RARE = 0.01
LEAST_ROWS = 2


@dataclass(frozen=True)
class Column:
    """How one column becomes features.

    Attributes:
        name: of the column.
        kind: of its cells.
        parts: of a date or a time: those that differ between training rows. Of a category: its levels.
        other: whether rare levels share a feature, which then also stands for levels that were never seen.
        fill: what an empty cell of a number or boolean counts as; ``None`` where empty cells are refused.
        gaps: whether training rows had empty cells, so that a feature says where they are.
        mark: decimal mark of its numbers in training, from a file with semicolons or tabs. New files of this kind may
            have a single row, which does not show what ``1,234`` is.
        range: smallest and largest number of the training rows; ``None`` for other kinds, few rows and older runs.
    """

    name: str
    kind: Kind
    parts: tuple[str, ...] = ()
    other: bool = False
    fill: float | None = None
    gaps: bool = False
    mark: Mark = ""
    range: Range | None = None

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        if self.kind in ("number", "boolean"):
            return [self.name] + [f"{self.name}=missing"] * self.gaps
        if self.kind == "category":
            return [f"{self.name}={level}" for level in self.parts] + [f"{self.name}=other"] * self.other
        return [f"{self.name}:{part}" for part in self.parts]

    def encoded(self, cells: Cells, missing: Missing, unseen: Unseen) -> Floats:
        """The features ``(rows, features)`` of the cells; arguments as for ``Encoding``."""
        block = np.zeros((len(cells), len(self.features)))
        values = values_of(cells, self.name, self.kind)
        gaps = [i for i, value in enumerate(values) if value is None]
        if gaps and (missing == "refuse" or self.kind in ("date", "time")):
            raise _empty(cells, self.name, gaps[0], self.kind)
        if self.kind in ("number", "boolean"):
            block[:, 0] = [self.fill if value is None else value for value in values] if gaps else values
            if self.gaps:
                block[gaps, 1] = 1.0
        elif self.kind == "category":
            self._mark_levels(block, ["missing" if value is None else value for value in values], cells, unseen)
        else:
            for i, value in enumerate(values):
                parts = parts_of(value)
                block[i] = [parts[part] for part in self.parts]
        return block

    def _mark_levels(self, block: Floats, levels: list[str], cells: Cells, unseen: Unseen) -> None:
        place, unknown = {level: k for k, level in enumerate(self.parts)}, dict[str, int]()
        for i, level in enumerate(levels):
            if level in place:
                block[i, place[level]] = 1.0
                continue
            unknown.setdefault(level, i)
            if self.other:
                block[i, -1] = 1.0
            elif unseen == "refuse":
                what = "an empty cell" if is_empty(cells.columns[self.name][i]) else repr(level)
                raise cells.error(
                    f"{what} was never seen in training, where the levels were {listed(self.parts)}"
                    f"{meant(level, self.parts)}: "
                    "correct the cell, or let it count as none of them with --unseen other "
                    "(in Python unseen='other', of DecisionRegressor columns={'unseen': 'other'})",
                    row=i,
                    column=self.name,
                )
        warn_of_alike(cells, self.name, unknown, self.parts)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON; without a range where there is none, as in files of older versions."""
        return {name: value for name, value in asdict(self).items() if name != "range" or value is not None}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Column:
        """Read what ``as_dict`` wrote; anything else is an error of Python, or a ``ValueError``."""
        limits = values.get("range")
        read = {"parts": tuple(values["parts"]), "range": None if limits is None else tuple(map(float, limits))}
        column = cls(**{**values, **read})
        if column.kind not in get_args(Kind) or column.mark not in get_args(Mark):
            raise ValueError(f"a column of kind {column.kind!r} and mark {column.mark!r}")
        if limits is not None and (len(limits) != 2 or not all(map(math.isfinite, limits))):
            raise ValueError(f"a column with the range {limits!r}")
        return column


def learned(cells: Cells, name: str, category: bool, missing: Missing, mark: Mark) -> Column:
    """Learn a column from training rows; ``category`` is whether it is one whatever it holds."""
    kind: Kind = "category" if category else kind_of(cells, name)
    values = values_of(cells, name, kind)
    gaps = None in values
    if gaps and (missing == "refuse" or kind in ("date", "time")):
        raise _empty(cells, name, values.index(None), kind)
    known = [value for value in values if value is not None]
    if kind in ("number", "boolean"):
        fill = statistics.median(known) if missing == "fill" else None
        number = kind == "number"
        limits = range_of(np.array(known)) if number else None
        return Column(name, kind, fill=fill, gaps=gaps, mark=mark if number else "", range=limits)
    if kind == "category":
        counts = Counter("missing" if value is None else value for value in values)
        least = max(LEAST_ROWS, RARE * len(values))
        rare = {level for level, count in counts.items() if count < least}
        levels = tuple(sorted(set(counts) - rare))
        for some in (levels, sorted(rare)):  # a rare level that is like a frequent one is reported where it is applied
            warn_of_two_cases(cells, name, some)
        return Column(name, kind, levels, other=bool(rare))
    order = OF_DATE if kind == "date" else OF_TIME
    first, differing = parts_of(known[0]), set[str]()
    for parts in map(parts_of, known):
        differing |= {part for part in order if parts[part] != first[part]}
        if len(differing) == len(order):
            break
    return Column(name, kind, tuple(part for part in order if part in differing))


def _empty(cells: Cells, column: str, row: int, kind: Kind) -> InputError:
    remedy = (
        "write the date or time, or leave the row out"
        if kind in ("date", "time")
        else "fill it, leave the row out, or train with --missing fill (in Python missing='fill', of "
        "DecisionRegressor columns={'missing': 'fill'})"
    )
    cell = cells.columns[column][row]
    shown = "" if cell is None else f" ({cell!r})"
    return cells.error(f"the cell is empty{shown}: {remedy}", row=row, column=column)
