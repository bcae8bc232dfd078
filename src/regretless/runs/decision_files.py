"""Decisions as CSV, Parquet or NPZ files, written completely or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from torch import Tensor

from regretless.errors import FileError
from regretless.optional import need
from regretless.storage import write_bytes, write_parts
from regretless.tables.table import suffix_to_write
from regretless.types import Decisions

OWN = {"instance", "status", "objective"}  # columns or arrays of every file with decisions
CHUNK = 1 << 20  # characters that are written at once


def check_decision_file(path: Path | str) -> None:
    """Refuse a file that ``write_decisions`` could not write, or must not replace, before anything is solved.

    Raises:
        FileError: there is such a file, and it holds something else than decisions.
        InputError, MissingDependencyError: decisions are not written in such files, or not on this machine.
    """
    path, ending = Path(path), suffix_to_write(path)
    if ending == ".parquet":
        need("pyarrow.parquet", pip="pyarrow", why="write Parquet files")
    if path.is_file() and path.stat().st_size and not _names_in(path, ending) >= OWN:
        raise FileError(
            f"{path} holds no decisions of an earlier command, and would be overwritten: choose another file"
        )


def _names_in(path: Path, ending: str) -> set[str]:
    """Names of the columns or arrays of a file; none where it cannot be read."""
    try:
        if ending == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return set(arrays.files)
        if ending == ".parquet":
            return set(need("pyarrow.parquet", pip="pyarrow", why="write Parquet files").read_schema(path).names)
        with path.open(encoding="utf-8", newline="") as file:
            return set(next(csv.reader(file), []))
    except (OSError, ValueError, TypeError, csv.Error, BadZipFile):  # those of pyarrow are among these
        return set()


def write_decisions(
    path: Path | str,
    predicted: Tensor,
    decisions: Decisions,
    *,
    cost_names: tuple[str, ...],
    variable_names: tuple[str, ...],
    instance: tuple[str, ...] | None = None,
    found: list[str] | None = None,
) -> None:
    """Write one row per instance: its name, status, objective, predicted costs and the decision.

    In CSV and Parquet the columns are ``instance``, ``status``, ``objective``, ``predicted:NAME`` and
    ``decision:NAME``; cells of an instance without a solution are empty. NPZ has arrays of the same names.

    Args:
        path: ending in ``.csv``, ``.parquet`` or ``.npz``.
        predicted: ``(n, d)`` costs.
        decisions: what ``Problem.solve`` returned for them.
        cost_names, variable_names: of the columns.
        instance: names of the rows; ``None`` numbers them from 0.
        found: how each was found, as a column of its own, with one for the proven gap.
    """
    ending = suffix_to_write(path)
    columns: dict[str, Any] = {"instance": list(instance or map(str, range(len(predicted))))}
    columns["status"] = [str(one) for one in decisions.status]
    columns |= {} if found is None else {"found": found, "gap": decisions.gap.numpy()}
    columns["objective"] = decisions.objective.numpy()
    blocks = {"predicted": (cost_names, predicted.numpy()), "decision": (variable_names, decisions.decision.numpy())}
    buffer = io.BytesIO()
    if ending == ".npz":
        arrays = {name: np.array(column) for name, column in columns.items()}
        arrays |= {word: values for word, (_, values) in blocks.items()}
        arrays |= {"cost_names": np.array(cost_names), "variable_names": np.array(variable_names)}
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        write_bytes(path, buffer.getvalue())
    elif ending == ".parquet":
        arrow = need("pyarrow", pip="pyarrow", why="write Parquet files")
        parquet = need("pyarrow.parquet", pip="pyarrow", why="write Parquet files")
        for word, (names, values) in blocks.items():
            columns |= {f"{word}:{name}": values[:, j] for j, name in enumerate(names)}
        parquet.write_table(arrow.table(columns), buffer)
        write_bytes(path, buffer.getbuffer())
    else:
        header = [*columns, *(f"{word}:{name}" for word, (names, _) in blocks.items() for name in names)]
        write_parts(path, _csv_lines(header, [*columns.values(), *(values for _, values in blocks.values())]))


def _csv_lines(header: list[str], columns: list[Any]) -> Iterator[bytes]:
    """The lines of a file one by one: as text, a table takes several times the memory of its numbers.

    ``columns`` are lists of words, and arrays of numbers with one or several columns.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for i in range(len(columns[0])):
        row: list[Any] = []
        for part in columns:
            row += [part[i]] if isinstance(part, list) else _cells(np.atleast_1d(part[i]).tolist())
        writer.writerow(row)
        if text.tell() > CHUNK:
            yield text.getvalue().encode("utf-8")
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode("utf-8")


def _cells(values: list[float]) -> list[Any]:
    """Numbers as they are written: integers without a point, since most decisions are, and nothing for NaN."""
    return [
        int(value) if value.is_integer() and abs(value) < 1e15 else "" if value != value else repr(value)
        for value in values
    ]
