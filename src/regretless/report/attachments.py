"""Tables and figures that another command wrote beside the runs: ``tables/*.csv`` and ``figures/*.svg``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regretless.errors import FileError
from regretless.report.report_data import AttachedFigure, AttachedTable
from regretless.storage import read_json

MAX_BYTES = 4_000_000
# A cell that ends so is outside the stated tolerance; the sign survives in Markdown and LaTeX too.
OUTSIDE = "*"
_QUESTION = re.compile(r"^(q\d+)(?=[-_.]|$)", re.IGNORECASE)


def read_tables(folder: Path, remarks: list[str]) -> tuple[AttachedTable, ...]:
    """Read ``folder/*.csv`` with their sidecars; what cannot be read becomes a remark."""
    return tuple(table for path in sorted(folder.glob("*.csv")) if (table := _table(path, remarks)) is not None)


def read_figures(folder: Path, remarks: list[str]) -> tuple[AttachedFigure, ...]:
    """Read ``folder/*.svg`` with their sidecars; what cannot be read becomes a remark."""
    return tuple(figure for path in sorted(folder.glob("*.svg")) if (figure := _figure(path, remarks)) is not None)


def _table(path: Path, remarks: list[str]) -> AttachedTable | None:
    content = _content(path, remarks)
    if content is None:
        return None
    try:
        lines = [line for line in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")) if line]
    except (UnicodeDecodeError, csv.Error) as error:
        remarks.append(f"{path.name} is left out, it is no CSV file: {error}")
        return None
    if not lines:
        remarks.append(f"{path.name} is left out: it is empty")
        return None
    sidecar = _sidecar(path, remarks)
    lines = _shown(sidecar.get("shown")) or lines
    header, width = lines[0], max(len(line) for line in lines)
    header += [""] * (width - len(header))
    outside = set(_named_cells(sidecar.get("outside"), header))
    rows = []
    for row, line in enumerate(lines[1:]):
        cells = [cell.strip() for cell in line] + [""] * (width - len(line))
        starred = [column for column, cell in enumerate(cells) if cell.endswith(OUTSIDE)]
        outside |= {(row, column) for column in starred}
        rows.append(tuple(cell.removesuffix(OUTSIDE).rstrip() for cell in cells))
    return AttachedTable(**_words(path, sidecar), header=tuple(header), rows=tuple(rows), outside=frozenset(outside))


def _shown(value: Any) -> list[list[str]]:
    """The layout for people, where the sidecar has one: lists of texts, the head first."""
    if not isinstance(value, list) or not all(isinstance(line, list) and line for line in value):
        return []
    return [list(line) for line in value] if all(isinstance(cell, str) for line in value for cell in line) else []


def _figure(path: Path, remarks: list[str]) -> AttachedFigure | None:
    content = _content(path, remarks)
    if content is None:
        return None
    # Shown as an image, in which browsers run no script and load nothing; entities are refused all the same.
    if b"<svg" not in content[:4096] or b"<!ENTITY" in content:
        remarks.append(f"{path.name} is left out: it is no plain SVG file")
        return None
    return AttachedFigure(**_words(path, _sidecar(path, remarks)), content=content)


def _content(path: Path, remarks: list[str]) -> bytes | None:
    try:
        if path.stat().st_size > MAX_BYTES:
            remarks.append(f"{path.name} is left out: it is larger than {MAX_BYTES // 1_000_000} MB")
            return None
        return path.read_bytes()
    except OSError as error:
        remarks.append(f"{path.name} cannot be read: {error.strerror or error}")
        return None


def _sidecar(path: Path, remarks: list[str]) -> Mapping[str, Any]:
    sidecar = path.with_suffix(".json")
    if not sidecar.exists():
        return {}
    try:
        value = read_json(sidecar)
    except FileError:
        value = None
    if isinstance(value, Mapping):
        return value
    remarks.append(f"{sidecar.name} is not used: it must hold a JSON object with title, caption and question")
    return {}


def _words(path: Path, sidecar: Mapping[str, Any]) -> dict[str, str]:
    found = _QUESTION.match(path.stem)
    words = {"name": path.stem, "title": path.stem.replace("-", " ").replace("_", " "), "caption": ""}
    words["question"] = found[1] if found else ""
    words |= {key: str(sidecar[key]) for key in ("title", "caption", "question") if sidecar.get(key)}
    question = words["question"].strip()
    return words | {"question": question.upper() if _QUESTION.fullmatch(question) else question}


def _named_cells(value: Any, header: list[str]) -> list[tuple[int, int]]:
    """Cells of a sidecar, ``[[row, column], ...]``: rows from 0 below the header, columns by number or name."""
    cells = []
    for cell in value if isinstance(value, list) else []:
        if isinstance(cell, list) and len(cell) == 2 and isinstance(cell[0], int):
            column = header.index(cell[1]) if cell[1] in header else cell[1]
            if isinstance(column, int):
                cells.append((cell[0], column))
    return cells
