"""A table that sorts by a click on its headings and scrolls inside its own box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from regretless.report.markup import Markup, join, tag


@dataclass(frozen=True)
class Column:
    """A heading; ``explain`` is shown when it is pointed at."""

    title: str
    numeric: bool = True
    explain: str = ""


@dataclass(frozen=True)
class Cell:
    """What a cell shows and what it is sorted by.

    Attributes:
        content: text, or markup.
        value: a number to sort by; text is sorted by itself.
        best: marked as the best of its column.
        outside: marked as outside the tolerance.
    """

    content: object
    value: float | None = None
    best: bool = False
    outside: bool = False


def grid(
    caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], *, hide_caption: bool = False
) -> Markup:
    """Build the table.

    Args:
        caption: says what is in it, also to those who cannot see it.
        columns: headings; the first column names the rows.
        rows: as wide as the headings.
        hide_caption: keep the caption for screen readers only.
    """
    head = tag("tr", *(_heading(column) for column in columns))
    body = [tag("tr", *(_cell(c, columns[i], i == 0) for i, c in enumerate(row))) for row in rows]
    table = tag(
        "table",
        tag("caption", caption, class_="quiet-text" if hide_caption else None),
        tag("thead", head),
        tag("tbody", *body),
    )
    # Focusable, so that it can be scrolled with the keyboard as well.
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=caption)


def _heading(column: Column) -> Markup:
    button = tag("button", column.title, type="button", title=column.explain or None)
    return tag("th", button, scope="col", aria_sort="none", class_="number" if column.numeric else None)


def _cell(cell: Cell, column: Column, first: bool) -> Markup:
    classes = [name for name, on in (("number", column.numeric), ("best", cell.best), ("outside", cell.outside)) if on]
    notes = [tag("span", " (best)", class_="quiet-text")] if cell.best else []
    if cell.outside:
        notes.append(tag("span", " (outside the tolerance)", class_="quiet-text"))
    value = f"{cell.value!r}" if cell.value is not None and math.isfinite(cell.value) else None
    words = {"class_": " ".join(classes) or None, "data_value": value}
    content = join([cell.content, *notes])
    return tag("th", content, scope="row", **words) if first else tag("td", content, **words)
