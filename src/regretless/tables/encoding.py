"""From columns of any kind to features: learned from training rows, kept as JSON, applied by the names of the columns.

It is written by hand, because the encoders of scikit-learn are an optional package, can be kept only as a pickle, and
do not say which line of a file is wrong.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from regretless.errors import FileError, InputError, RegretlessWarning
from regretless.listing import listed, numbered
from regretless.milp import Floats
from regretless.storage import MALFORMED
from regretless.tables.cells import Cells, frame_cells, missing_and_extra
from regretless.tables.column_kinds import kind_of, unread_date
from regretless.tables.decimal_marks import marks_of_numbers, with_points
from regretless.tables.doubtful_data import range_of, warn_of_range
from regretless.tables.encoded_column import Column, Missing, Unseen, learned


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
        ignore: columns that are no features, and that a table need not have.

    >>> cells = Cells("t", {"day": ["2024-01-01", "2024-01-02"], "wind": ["3", "5"]}, ("row 1", "row 2"))
    >>> encoding = Encoding.learn(cells)
    >>> encoding.feature_names[:3], encoding.apply(cells)[:, -1].tolist()
    (('day:weekday=mon', 'day:weekday=tue', 'day:year_sin'), [3.0, 5.0])
    """

    columns: tuple[Column, ...]
    missing: Missing = "refuse"
    unseen: Unseen = "refuse"
    id: str = "instance"
    ignore: tuple[str, ...] = ()

    @classmethod
    def learn(
        cls,
        table: Any,
        *,
        categories: Sequence[str] = (),
        missing: Missing = "refuse",
        unseen: Unseen = "refuse",
        id: str = "instance",
        ignore: Sequence[str] = (),
    ) -> Encoding:
        """Find kinds, levels and medians from training rows.

        Args:
            table: cells of a file, or a data frame.
            categories: columns that are categories whatever they hold, such as numeric codes.
            missing, unseen: what to do with empty cells, and later with levels that were never seen.
            id: column that names the rows; its calendar parts are features if it holds dates and was named explicitly.
            ignore: columns that are no features, such as comments.

        Raises:
            InputError: the message names file, line, column and remedy.
        """
        if missing not in get_args(Missing) or unseen not in get_args(Unseen):
            raise InputError(
                f"missing must be 'refuse' or 'fill' and unseen 'refuse' or 'other', got {missing!r} and {unseen!r}"
            )
        cells = _cells(table)
        _refuse_unknown(cells, ignore, "ignore")
        cells = cells.without(ignore)
        _refuse_unknown(cells, categories, "categories")
        if id == "instance" and id not in cells.columns and (near := cells.instead(id)):
            said = f"there is no column {id!r}, which names the rows{near}: the other one counts as a feature"
            warnings.warn(str(cells.error(said)), RegretlessWarning, stacklevel=2)
        if id != "instance" and id not in cells.columns:
            _refuse_unknown(cells, [id], "id")
        names = [name for name in cells.columns if name != id or _is_date(cells, id)]
        # Words and names stay as they are written.
        marks = marks_of_numbers(cells, [name for name in names if name != id and name not in categories])
        cells = with_points(cells, marks)
        columns = tuple(learned(cells, name, name in categories, missing, marks.get(name, "")) for name in names)
        if not any(column.features for column in columns):
            raise cells.error("no column is a feature: a table of features needs one beside that which names the rows")
        return cls(columns, missing, unseen, id, tuple(ignore))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of all features, in order; a name that occurs again has a number, as for a level called ``other``."""
        return numbered(name for column in self.columns for name in column.features)

    def apply(self, table: Any) -> Floats:
        """Features ``(rows, k)`` of a table (cells of a file, or a data frame) with the columns of training.

        Columns are matched by name, in any order. Numbers far outside of those of training give a warning.

        Raises:
            InputError: the message names file, line, column and remedy.
        """
        cells = _cells(table).without(self.ignore)
        wanted = [column.name for column in self.columns]
        remedy = "the columns must be those of training; with other columns, train a new run on all rows"
        if set(wanted) < set(cells.columns):
            remedy = "leave the other columns out, or train a new run with them (or with --ignore)"
        if self.id not in {*cells.columns, *wanted} and (near := cells.instead(self.id)):
            remedy = f"the rows are named by the column {self.id!r}{near}"
        missing_and_extra(cells.without([self.id] if self.id not in wanted else []), wanted, "feature", remedy)
        trained = {column.name: column.mark for column in self.columns if column.kind == "number"}
        cells = with_points(cells, trained, trained=trained)
        blocks = [column.encoded(cells, self.missing, self.unseen) for column in self.columns]
        numbers = zip(self.columns, blocks, strict=True)
        warn_of_range(cells, {one.name: (one.range, block[:, 0]) for one, block in numbers if one.range is not None})
        return np.ascontiguousarray(np.concatenate(blocks, axis=1))

    def ranged(self, features: Floats) -> Encoding:
        """The same encoding with the ranges of these training features ``(n, ..., k)`` in place of those it has."""
        rows = features.reshape(-1, features.shape[-1])
        starts = np.cumsum([0, *(len(column.features) for column in self.columns)])
        columns = [
            replace(column, range=range_of(rows[:, start])) if column.kind == "number" else column
            for column, start in zip(self.columns, starts[:-1], strict=True)
        ]
        return replace(self, columns=tuple(columns))

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        settings = {"version": 1, "id": self.id, "missing": self.missing, "unseen": self.unseen}
        settings |= {"ignore": list(self.ignore)} if self.ignore else {}  # older versions do not have it
        return settings | {"columns": [column.as_dict() for column in self.columns]}

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
            columns = tuple(map(Column.from_dict, values["columns"]))
            ignore = tuple(values.get("ignore", ()))
            if not columns or not all(isinstance(name, str) for name in (values["id"], *ignore)):
                raise ValueError("no columns, or an id or a column to ignore that is no text")
        except MALFORMED as error:
            raise FileError(f"{source} holds no encoding: {error}") from error
        return cls(columns, values["missing"], values["unseen"], values["id"], ignore)


def _cells(table: Any) -> Cells:
    return table if isinstance(table, Cells) else frame_cells(table)


def _refuse_unknown(cells: Cells, names: Sequence[str], option: str) -> None:
    for name in names:
        if name not in cells.columns:
            near, there = cells.instead(name), listed(list(cells.columns))
            raise cells.error(f"there is no column {name!r} for {option}{near}; there are {there}")


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
    try:
        return kind_of(cells, id) == "date"
    except InputError:  # its cells are mixed, or names
        return False
