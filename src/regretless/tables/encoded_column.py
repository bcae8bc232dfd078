"""How one column of a table becomes features: learned from training rows, and applied to the cells of any table."""

from __future__ import annotations

import calendar
import datetime as dt
import math
import statistics
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from regretless.errors import RegretlessWarning
from regretless.listing import folded, listed, meant
from regretless.milp import Floats
from regretless.tables.cells import Cells
from regretless.tables.column_kinds import Kind, is_empty, kind_of, values_of
from regretless.tables.decimal_marks import Mark
from regretless.tables.doubtful_data import Range, range_of

Missing = Literal["refuse", "fill"]
Unseen = Literal["refuse", "other"]
# A level that fewer rows have than this share joins the other rare ones.
RARE = 0.01
LEAST_ROWS = 2
# Parts of dates and times: the weekday, and points on the circles of the year and of the day.
WEEKDAYS = tuple(f"weekday={day}" for day in ("mon", "tue", "wed", "thu", "fri", "sat", "sun"))
OF_DATE = (*WEEKDAYS, "year_sin", "year_cos", "day_sin", "day_cos")
OF_TIME = ("day_sin", "day_cos")


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
        values, gaps = _values_and_gaps(cells, self.name, self.kind, missing)
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
    values, gaps = _values_and_gaps(cells, name, kind, missing)
    known = [value for value in values if value is not None]
    if kind in ("number", "boolean"):
        fill = statistics.median(known) if missing == "fill" else None
        number = kind == "number"
        limits = range_of(np.array(known)) if number else None
        return Column(name, kind, fill=fill, gaps=bool(gaps), mark=mark if number else "", range=limits)
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


def _values_and_gaps(cells: Cells, column: str, kind: Kind, missing: Missing) -> tuple[list[Any], list[int]]:
    """The values of a column, and the rows of its empty cells, which may be refused."""
    values, date = values_of(cells, column, kind), kind in ("date", "time")
    gaps = [i for i, value in enumerate(values) if value is None]
    if gaps and (missing == "refuse" or date):
        remedy = (
            "fill it, leave the row out, or train with --missing fill (in Python missing='fill', of "
            "DecisionRegressor columns={'missing': 'fill'})"
        )
        remedy = "write the date or time, or leave the row out" if date else remedy
        cell = cells.columns[column][gaps[0]]
        shown = "" if cell is None else f" ({cell!r})"
        raise cells.error(f"the cell is empty{shown}: {remedy}", row=gaps[0], column=column)
    return values, gaps


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
    """Warn of unknown levels, each with its first row, that are like a known one of training; once for all rows."""
    meant = {folded(level): level for level in known}
    pairs = [(level, meant[folded(level)]) for level in unknown if folded(level) in meant]
    if pairs:
        words = listed([f"{level!r} is probably {other!r}" for level, other in pairs], most=3)
        said = f"accepted as none of the known levels: {words}; write a level as in training if it is the same"
        warnings.warn(str(cells.error(said, row=unknown[pairs[0][0]], column=column)), RegretlessWarning, stacklevel=4)


def parts_of(when: dt.datetime | dt.time) -> dict[str, float]:
    """All parts of a date with its time, or of a time of day.

    The time of the year is an angle, so that 31 December is next to 1 January; so is the time of the day.

    >>> parts_of(dt.datetime(2024, 1, 1))["weekday=mon"]
    1.0
    """
    seconds = when.hour * 3600 + when.minute * 60 + when.second
    parts = _circle("day", seconds / 86400)
    if isinstance(when, dt.datetime):
        days = 366 if calendar.isleap(when.year) else 365
        parts |= _circle("year", (when.timetuple().tm_yday - 1 + seconds / 86400) / days)
        parts |= {name: float(when.weekday() == day) for day, name in enumerate(WEEKDAYS)}
    return parts


def _circle(name: str, share: float) -> dict[str, float]:
    angle = 2 * math.pi * share
    return {f"{name}_sin": math.sin(angle), f"{name}_cos": math.cos(angle)}
