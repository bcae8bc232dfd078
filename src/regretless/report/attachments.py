"""Tables and figures that another command wrote beside the runs: ``tables/*.csv`` and ``figures/*.svg``."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regretless.charts.text import number
from regretless.errors import FileError
from regretless.report.sortable_table import Cell, Column, SortableTable
from regretless.storage import read_json

MAX_BYTES = 4_000_000
# A cell with this ending is outside the stated tolerance; the sign survives in Markdown and LaTeX too.
OUTSIDE = "*"
# A figure of several panels needs the full width of the page.
WIDE = 1.9
_QUESTION = re.compile(r"^(q\d+)(?=[-_.]|$)", re.IGNORECASE)
_NUMBER = re.compile(r"^[~<>≈]?\s*([-+\u2212]?[\d,]*\.?\d+(?:[eE][-+]?\d+)?)(?=$|[\s%±(|s/])")
_BOX = re.compile(rb"<svg[^>]*?\sviewBox=[\"'][-\d.eE]+[\s,]+[-\d.eE]+[\s,]+([\d.]+)[\s,]+([\d.]+)")


@dataclass(frozen=True)
class Attachment:
    """A table or a figure.

    Attributes:
        title, caption: heading, and the text below.
        question: such as ``Q1``, or another heading of a section; empty where it answers none.
        table: the content of a CSV file.
        image: address that holds an SVG file; as an image it runs no script and loads nothing.
        wide: whether the image takes the full width of the page.
    """

    title: str
    caption: str = ""
    question: str = ""
    table: SortableTable | None = None
    image: str = ""
    wide: bool = False


def read_attachments(results: Path, remarks: list[str]) -> tuple[Attachment, ...]:
    """Read tables, then figures, with their sidecar files; what cannot be read becomes a remark."""
    files = [*sorted((results / "tables").glob("*.csv")), *sorted((results / "figures").glob("*.svg"))]
    found = []
    for path in files:
        try:
            if path.stat().st_size > MAX_BYTES:
                raise ValueError(f"it is larger than {MAX_BYTES // 1_000_000} MB")
            sidecar = _sidecar(path, remarks)
            found.append((_table if path.suffix == ".csv" else _figure)(path, sidecar))
        except (OSError, ValueError, csv.Error) as error:
            remarks.append(f"the file {path.name} is left out: {error}")
    return tuple(found)


def leading_number(text: str) -> float | None:
    """The number that a cell begins with.

    >>> leading_number("1,024 ± 66"), leading_number("5 %"), leading_number("map-2c")
    (1024.0, 5.0, None)
    """
    found = _NUMBER.match(text.strip())
    return number(found[1].replace(",", "").replace("\u2212", "-")) if found else None


def _table(path: Path, sidecar: Mapping[str, Any]) -> Attachment:
    lines = [line for line in csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")) if line]
    lines = _layout(sidecar.get("shown")) or lines
    if not lines:
        raise ValueError("it is empty")
    width = max(map(len, lines))
    header, *rows = [[cell.strip() for cell in line] + [""] * (width - len(line)) for line in lines]
    outside = _named_cells(sidecar.get("outside"), header)
    outside |= {(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if cell.endswith(OUTSIDE)}
    rows = [[cell.removesuffix(OUTSIDE).rstrip() for cell in row] for row in rows]
    columns = [Column(title or "–", _mostly_numbers([row[j] for row in rows])) for j, title in enumerate(header)]
    cells = [
        [
            Cell(text or "–", leading_number(text) if columns[j].numeric else None, outside=(i, j) in outside)
            for j, text in enumerate(row)
        ]
        for i, row in enumerate(rows)
    ]
    words = _words(path, sidecar)
    return Attachment(**words, table=SortableTable(words["title"], columns, cells))


def _figure(path: Path, sidecar: Mapping[str, Any]) -> Attachment:
    content = path.read_bytes()
    # An image cannot act; a file with entities is refused all the same, because it can grow without limit.
    if b"<svg" not in content[:4096] or b"<!ENTITY" in content:
        raise ValueError("it is not a plain SVG file")
    box = _BOX.search(content[:4096])
    width, height = (number(part.decode()) for part in box.groups()) if box else (None, None)
    wide = bool(width and height and width / height > WIDE)
    image = "data:image/svg+xml;base64," + base64.b64encode(content).decode()
    return Attachment(**_words(path, sidecar), image=image, wide=wide)


def _sidecar(path: Path, remarks: list[str]) -> Mapping[str, Any]:
    sidecar = path.with_suffix(".json")
    try:
        value = read_json(sidecar) if sidecar.exists() else {}
    except FileError:
        value = None
    if isinstance(value, Mapping):
        return value
    remarks.append(f"the file {sidecar.name} is not used: it must hold a JSON object with title, caption and question")
    return {}


def _words(path: Path, sidecar: Mapping[str, Any]) -> dict[str, Any]:
    found = _QUESTION.match(path.stem)
    words = {"title": path.stem.replace("-", " ").replace("_", " "), "question": found[1] if found else ""}
    words |= {key: str(sidecar[key]) for key in ("title", "caption", "question") if sidecar.get(key)}
    question = words["question"].strip()
    return words | {"question": question.upper() if _QUESTION.fullmatch(question) else question}


def _layout(value: Any) -> list[list[str]]:
    """The layout for people, where the sidecar file has one: lists of texts, the header first."""
    lines = value if isinstance(value, list) else []
    good = all(isinstance(line, list) and line and all(isinstance(cell, str) for cell in line) for line in lines)
    return lines if good else []


def _named_cells(value: Any, header: list[str]) -> set[tuple[int, int]]:
    """Cells of a sidecar file, ``[[row, column], ...]``: rows from 0 below the header, columns by number or name."""
    cells = set()
    for cell in value if isinstance(value, list) else []:
        if isinstance(cell, list) and len(cell) == 2 and isinstance(cell[0], int):
            column = header.index(cell[1]) if cell[1] in header else cell[1]
            if isinstance(column, int):
                cells.add((cell[0], column))
    return cells


def _mostly_numbers(cells: Sequence[str]) -> bool:
    written = [cell for cell in cells if cell not in ("", "-", "–", "—", "nan", "NaN")]
    return bool(written) and 2 * sum(leading_number(cell) is not None for cell in written) > len(written)
