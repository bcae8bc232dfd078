"""The questions of the paper, each answered by the tables and figures that name it."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

from regretless.charts.numbers import number
from regretless.report.display_order import natural_order
from regretless.report.report_data import AttachedFigure, AttachedTable, ReportData
from regretless.report.sortable_table import Cell, Column, SortableTable

QUESTIONS = {
    "Q1": "How good is each contrastive loss, in terms of regret?",
    "Q2": "What does the growth of the solution cache do to quality and time?",
    "Q3": "What do other solver-agnostic methods gain from the cache?",
    "Q4": "How do the methods compare with the state of the art, in regret and in time?",
}
MORE = "Further tables and figures"
# A figure of several panels needs the full width of the page.
WIDE = 1.9
_NUMBER = re.compile(r"^[~<>≈]?\s*([-+\u2212]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)(?=$|[\s%±(|s/])")
_BOX = re.compile(rb"<svg[^>]*?\sviewBox=[\"'][-\d.eE]+[\s,]+[-\d.eE]+[\s,]+([\d.]+)[\s,]+([\d.]+)")


@dataclass(frozen=True)
class Question:
    """A section of the page.

    Attributes:
        anchor: id of the section.
        name: in the table of contents.
        heading: of the section.
        tables: each file with its table.
        figures: each file with the address of its image.
    """

    anchor: str
    name: str
    heading: str
    tables: Sequence[tuple[AttachedTable, SortableTable]]
    figures: Sequence[tuple[AttachedFigure, str]]


def questions(data: ReportData) -> list[Question]:
    """Sort tables and figures into sections: numbered questions first, then other headings, the rest last."""
    everything = [*data.tables, *data.figures]
    names = {item.question for item in everything}
    found = []
    for name in sorted(names, key=lambda name: (not name, not re.fullmatch(r"Q\d+", name), natural_order(name))):
        heading = f"{name}. {QUESTIONS[name]}" if name in QUESTIONS else (name or MORE)
        anchor = "question-" + (re.sub(r"[^a-z0-9]+", "-", name.lower()) or "more")
        tables = [(item, as_sortable(item)) for item in data.tables if item.question == name]
        figures = [(item, image_address(item)) for item in data.figures if item.question == name]
        found.append(Question(anchor, name or MORE, heading, tables, figures))
    return found


def as_sortable(table: AttachedTable) -> SortableTable:
    """Find the columns of numbers of a table, and what its cells are sorted by."""
    numeric = [_mostly_numbers([row[index] for row in table.rows]) for index in range(len(table.header))]
    columns = [Column(title or "–", numeric=kind) for title, kind in zip(table.header, numeric, strict=True)]
    rows = [
        [Cell(text or "–", leading_number(text) if numeric[column] else None, outside=(row, column) in table.outside)
         for column, text in enumerate(cells)]
        for row, cells in enumerate(table.rows)
    ]  # fmt: skip
    return SortableTable(table.title, columns, rows)


def image_address(figure: AttachedFigure) -> str:
    """Address that holds the file itself; an image runs no script and loads nothing, whatever the file holds."""
    return "data:image/svg+xml;base64," + base64.b64encode(figure.content).decode("ascii")


def is_wide(figure: AttachedFigure) -> bool:
    """Whether a figure is much wider than high, by the box that its file states."""
    found = _BOX.search(figure.content[:4096])
    width, height = (number(part.decode("ascii")) for part in found.groups()) if found else (None, None)
    return bool(width and height and width / height > WIDE)


def leading_number(text: str) -> float | None:
    """The number that a cell begins with.

    >>> leading_number("1,024 ± 66"), leading_number("5 %"), leading_number("map-2c")
    (1024.0, 5.0, None)
    """
    found = _NUMBER.match(text.strip())
    return number(found[1].replace(",", "").replace("\u2212", "-")) if found else None


def _mostly_numbers(cells: Sequence[str]) -> bool:
    written = [cell for cell in cells if cell not in ("", "-", "–", "—", "nan", "NaN")]
    return bool(written) and 2 * sum(leading_number(cell) is not None for cell in written) > len(written)
