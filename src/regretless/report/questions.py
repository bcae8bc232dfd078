"""The four questions of the paper, each answered by the tables and figures that name it."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence

from regretless.report.collected import Attachment, Collected, Figure, Table
from regretless.report.grid import Cell, Column, grid
from regretless.report.markup import Markup, tag
from regretless.report.numbers import number
from regretless.report.order import natural

QUESTIONS = {
    "Q1": "How good is each contrastive loss, in terms of regret?",
    "Q2": "What does the growth of the solution cache do to quality and time?",
    "Q3": "What do other solver-agnostic methods gain from the cache?",
    "Q4": "How do the methods compare with the state of the art, in regret and in time?",
}
_NUMBER = re.compile(r"^[~<>≈]?\s*([-+\u2212]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)(?=$|[\s%±(|s/])")
LONG = 40
MORE = "Further tables and figures"
# A figure of several panels needs the whole width of the page.
WIDE = 1.9
_BOX = re.compile(rb"<svg[^>]*?\sviewBox=[\"'][-\d.eE]+[\s,]+[-\d.eE]+[\s,]+([\d.]+)[\s,]+([\d.]+)")


def questions(collected: Collected) -> list[tuple[str, str, Markup]]:
    """Sections of tables and figures.

    Returns:
        Triples of an anchor, a name for the contents and the section; questions first and in order, the rest last.
    """
    everything: list[Attachment] = [*collected.tables, *collected.figures]
    asked = {item.question for item in everything if item.question}
    names = sorted(asked, key=lambda name: (not re.fullmatch(r"Q\d+", name), natural(name)))
    if any(not item.question for item in everything):
        names.append("")
    found = []
    for name in names:
        heading = f"{name}. {QUESTIONS[name]}" if name in QUESTIONS else (name or MORE)
        anchor = "question-" + (re.sub(r"[^a-z0-9]+", "-", name.lower()) or "more")
        tables = [_table(item) for item in collected.tables if item.question == name]
        figures = [_figure(item) for item in collected.figures if item.question == name]
        body = [*tables, *([tag("div", *figures, class_="charts")] if figures else [])]
        found.append((anchor, name or MORE, tag("section", tag("h2", heading), *body, id=anchor)))
    return found


def _table(table: Table) -> Markup:
    numeric = [_mostly_numbers([row[index] for row in table.rows]) for index in range(len(table.header))]
    columns = [Column(title or "–", numeric=kind) for title, kind in zip(table.header, numeric, strict=True)]
    rows = [
        [Cell(text or "–", leading_number(text) if numeric[column] else None, outside=(row, column) in table.outside)
         for column, text in enumerate(cells)]
        for row, cells in enumerate(table.rows)
    ]  # fmt: skip
    parts: list[object] = [grid(table.title, columns, rows, hide_caption=True)]
    if len(rows) > LONG:
        parts = [tag("details", tag("summary", f"{len(rows):,} rows"), *parts)]
    if table.outside:
        key = tag("span", "value *", class_="outside key")
        parts.append(tag("p", key, " outside the stated tolerance", class_="note"))
    if table.caption:
        parts.append(tag("p", table.caption, class_="note"))
    return tag("div", tag("h3", table.title), *parts, class_="attached")


def _figure(figure: Figure) -> Markup:
    # An image runs no script and loads nothing, whatever the file holds.
    address = "data:image/svg+xml;base64," + base64.b64encode(figure.content).decode("ascii")
    caption = tag("figcaption", figure.caption) if figure.caption else ""
    picture = tag("img", src=address, alt=figure.caption or figure.title)
    shape = "attached wide" if _ratio(figure.content) > WIDE else "attached"
    return tag("figure", tag("h4", figure.title), picture, caption, class_=shape)


def _ratio(content: bytes) -> float:
    """Width over height of an SVG file; 1 where it does not say."""
    found = _BOX.search(content[:4096])
    width, height = (number(part.decode("ascii")) for part in found.groups()) if found else (None, None)
    return width / height if width and height else 1.0


def leading_number(text: str) -> float | None:
    """The number that a cell begins with, to sort by.

    >>> leading_number("1,024 ± 66"), leading_number("5 %"), leading_number("map-2c")
    (1024.0, 5.0, None)
    """
    found = _NUMBER.match(text.strip())
    return number(found[1].replace(",", "").replace("\u2212", "-")) if found else None


def _mostly_numbers(cells: Sequence[str]) -> bool:
    written = [cell for cell in cells if cell not in ("", "-", "–", "—", "nan", "NaN")]
    return bool(written) and 2 * sum(leading_number(cell) is not None for cell in written) > len(written)
