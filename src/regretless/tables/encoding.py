"""From columns of any kind to features: learned from training rows, kept as JSON, applied by the names of the columns.

It is written by hand, because the encoders of scikit-learn are an optional package, can be kept only as a pickle, and
do not say which line of a file is wrong.
"""

from __future__ import annotations

import statistics
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from regretless.errors import FileError, InputError, RegretlessWarning
from regretless.listing import folded, listed, meant, numbered
from regretless.milp import Floats
from regretless.storage import MALFORMED
from regretless.tables.calendar_parts import OF_DATE, OF_TIME, parts_of
from regretless.tables.cells import Cells, frame_cells, missing_and_extra
from regretless.tables.column_kinds import Kind, kind_of, unread_date, values_of
from regretless.tables.decimal_marks import Mark, marks_of_numbers, with_points

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
    """

    name: str
    kind: Kind
    parts: tuple[str, ...] = ()
    other: bool = False
    fill: float | None = None
    gaps: bool = False
    mark: Mark = ""

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        if self.kind in ("number", "boolean"):
            return [self.name] + [f"{self.name}=missing"] * self.gaps
        if self.kind == "category":
            return [f"{self.name}={level}" for level in self.parts] + [f"{self.name}=other"] * self.other
        return [f"{self.name}:{part}" for part in self.parts]


@dataclass(frozen=True)
class Encoding:
    """Columns of a table and the features that they become.

    Attributes:
        columns: in the order of the features.
        missing: ``"refuse"`` empty cells, or ``"fill"`` them: numbers with the median of the training rows and a
            feature that says so, categories with a level of their own. An empty date is always refused.
        unseen: ``"refuse"`` a level that was never seen in training, or let it count as none of the ``"other"`` ones;
            where rare levels share a feature, it counts as a rare one in any case.
        id: column that names the rows.

    >>> cells = Cells("t", {"day": ["2024-01-01", "2024-01-02"], "wind": ["3", "5"]}, ("row 1", "row 2"))
    >>> encoding = Encoding.learn(cells)
    >>> encoding.feature_names[:3], encoding.apply(cells)[:, -1].tolist()
    (('day:weekday=mon', 'day:weekday=tue', 'day:year_sin'), [3.0, 5.0])
    """

    columns: tuple[Column, ...]
    missing: Missing = "refuse"
    unseen: Unseen = "refuse"
    id: str = "instance"

    @classmethod
    def learn(
        cls,
        table: Any,
        *,
        categories: Sequence[str] = (),
        missing: Missing = "refuse",
        unseen: Unseen = "refuse",
        id: str = "instance",
    ) -> Encoding:
        """Find kinds, levels and medians from training rows.

        Args:
            table: cells of a file, or a data frame.
            categories: columns that are categories whatever they hold, such as numeric codes.
            missing, unseen: what to do with empty cells, and later with levels that were never seen.
            id: column that names the rows; its calendar parts are features if it holds dates and was named explicitly.

        Raises:
            InputError: the message names file, line, column and remedy.
        """
        if missing not in get_args(Missing) or unseen not in get_args(Unseen):
            raise InputError(
                f"missing must be 'refuse' or 'fill' and unseen 'refuse' or 'other', got {missing!r} and {unseen!r}"
            )
        cells = _cells(table)
        unknown = [name for name in categories if name not in cells.columns]
        if unknown:
            raise cells.error(
                f"there is no column {unknown[0]!r} for categories{cells.instead(unknown[0])}; there are "
                f"{listed(list(cells.columns))}"
            )
        if id == "instance" and id not in cells.columns and (near := cells.instead(id)):
            said = f"there is no column {id!r}, which names the rows{near}: the other one counts as a feature"
            warnings.warn(str(cells.error(said)), RegretlessWarning, stacklevel=2)
        if id != "instance" and id not in cells.columns:
            raise cells.error(
                f"there is no column {id!r} for id{cells.instead(id)}; there are {listed(list(cells.columns))}"
            )
        names = [name for name in cells.columns if name != id or _is_date(cells, id)]
        # Words and names stay as they are written.
        marks = marks_of_numbers(cells, [name for name in names if name != id and name not in categories])
        cells = with_points(cells, marks)
        columns = tuple(_learned(cells, name, name in categories, missing, marks.get(name, "")) for name in names)
        if not any(column.features for column in columns):
            raise cells.error("no column is a feature")
        return cls(columns, missing, unseen, id)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of all features, in order; a name that occurs again has a number, as for a level called ``other``."""
        return numbered(name for column in self.columns for name in column.features)

    def apply(self, table: Any) -> Floats:
        """Features ``(rows, k)`` of a table (cells of a file, or a data frame) with the columns of training.

        Columns are matched by name, in any order.

        Raises:
            InputError: the message names file, line, column and remedy.
        """
        cells = _cells(table)
        wanted = [column.name for column in self.columns]
        remedy = "the columns must be those of training; with other columns, train a new run on all rows"
        if self.id not in {*cells.columns, *wanted} and (near := cells.instead(self.id)):
            remedy = f"the rows are named by the column {self.id!r}{near}"
        missing_and_extra(cells.without([self.id] if self.id not in wanted else []), wanted, "feature", remedy)
        trained = {column.name: column.mark for column in self.columns if column.kind == "number"}
        cells = with_points(cells, trained, trained=trained)
        blocks = [self._encoded(cells, column) for column in self.columns]
        return np.ascontiguousarray(np.concatenate(blocks, axis=1))

    def _encoded(self, cells: Cells, column: Column) -> Floats:
        block = np.zeros((len(cells), len(column.features)))
        values = values_of(cells, column.name, column.kind)
        gaps = [i for i, value in enumerate(values) if value is None]
        if gaps and (self.missing == "refuse" or column.kind in ("date", "time")):
            raise _empty(cells, column.name, gaps[0], column.kind)
        if column.kind in ("number", "boolean"):
            block[:, 0] = [column.fill if value is None else value for value in values] if gaps else values
            if column.gaps:
                block[gaps, 1] = 1.0
            return block
        place = {part: k for k, part in enumerate(column.parts)}
        for i, value in enumerate(values):
            if column.kind == "category":
                level = "missing" if value is None else value
                if level in place:
                    block[i, place[level]] = 1.0
                elif column.other:
                    block[i, -1] = 1.0
                elif self.unseen == "refuse":
                    what = "an empty cell" if value is None else repr(level)
                    raise cells.error(
                        f"{what} was never seen in training, where the levels were {listed(column.parts)}"
                        f"{meant(level, column.parts)}: "
                        "correct the cell, or let it count as none of them with --unseen other "
                        "(in Python unseen='other')",
                        row=i,
                        column=column.name,
                    )
            else:
                parts = parts_of(value)
                block[i] = [parts[part] for part in column.parts]
        return block

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        settings = {"version": 1, "id": self.id, "missing": self.missing, "unseen": self.unseen}
        return settings | {"columns": [asdict(column) for column in self.columns]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], source: str = "encoding") -> Encoding:
        """Read what ``as_dict`` wrote.

        Raises:
            FileError: the data are not those of an encoding.
        """
        try:
            settings = values["version"], values["missing"], values["unseen"]
            if settings not in [(1, missing, unseen) for missing in get_args(Missing) for unseen in get_args(Unseen)]:
                raise ValueError(f"version, missing and unseen are {settings}")
            columns = tuple(Column(**(one | {"parts": tuple(one["parts"])})) for one in values["columns"])
            bad: list[str] = [column.kind for column in columns if column.kind not in get_args(Kind)]
            bad += [column.mark for column in columns if column.mark not in get_args(Mark)]
            if bad or not columns or not isinstance(values["id"], str):
                raise ValueError(f"a column of kind or mark {bad[0]!r}" if bad else "no columns or no id")
        except MALFORMED as error:
            raise FileError(f"{source} holds no encoding: {error}") from error
        return cls(columns, values["missing"], values["unseen"], values["id"])


def _cells(table: Any) -> Cells:
    return table if isinstance(table, Cells) else frame_cells(table)


def _is_date(cells: Cells, id: str) -> bool:
    """Whether an id column that was named explicitly holds dates, so that it is a feature, too."""
    if id == "instance" or id not in cells.columns:
        return False
    unread = unread_date(cells, id)
    if unread is not None:
        said = (
            f"{unread!r} looks like a date in a form that is not read, so it only names the row: write dates as "
            "2024-01-31 in all tables to make their weekday and time of the year features"
        )
        warnings.warn(str(cells.error(said, column=id)), RegretlessWarning, stacklevel=3)
        return False
    return kind_of_or_none(cells, id) == "date"


def kind_of_or_none(cells: Cells, column: str) -> Kind | None:
    """The kind of a column; ``None`` where its cells are mixed or are names."""
    try:
        return kind_of(cells, column)
    except InputError:
        return None


def _learned(cells: Cells, name: str, category: bool, missing: Missing, mark: Mark) -> Column:
    kind: Kind = "category" if category else kind_of(cells, name)
    values = values_of(cells, name, kind)
    gaps = None in values
    if gaps and (missing == "refuse" or kind in ("date", "time")):
        raise _empty(cells, name, values.index(None), kind)
    known = [value for value in values if value is not None]
    if kind in ("number", "boolean"):
        fill = statistics.median(known) if missing == "fill" else None
        return Column(name, kind, fill=fill, gaps=gaps, mark=mark if kind == "number" else "")
    if kind == "category":
        counts = Counter("missing" if value is None else value for value in values)
        _warn_of_two_cases(cells, name, sorted(counts))
        least = max(LEAST_ROWS, RARE * len(values))
        rare = {level for level, count in counts.items() if count < least}
        levels = tuple(sorted(set(counts) - rare))
        return Column(name, kind, levels, other=bool(rare))
    order = OF_DATE if kind == "date" else OF_TIME
    first, differing = parts_of(known[0]), set[str]()
    for parts in map(parts_of, known):
        differing |= {part for part in order if parts[part] != first[part]}
        if len(differing) == len(order):
            break
    return Column(name, kind, tuple(part for part in order if part in differing))


def _warn_of_two_cases(cells: Cells, column: str, levels: Sequence[str]) -> None:
    """Warn of levels that differ in case or spaces only."""
    first: dict[str, str] = {}
    for level in levels:
        other = first.setdefault(folded(level), level)
        if other != level:
            said = f"{other!r} and {level!r} count as two categories: write them in one way if they are one"
            warnings.warn(str(cells.error(said, column=column)), RegretlessWarning, stacklevel=4)
            return


def _empty(cells: Cells, column: str, row: int, kind: Kind) -> InputError:
    remedy = (
        "write the date or time, or leave the row out"
        if kind in ("date", "time")
        else "fill it, leave the row out, or train with --missing fill (in Python missing='fill')"
    )
    cell = cells.columns[column][row]
    shown = "" if cell is None else f" ({cell!r})"
    return cells.error(f"the cell is empty{shown}: {remedy}", row=row, column=column)
