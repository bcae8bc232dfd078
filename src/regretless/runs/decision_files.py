"""Decisions as CSV, Parquet or NPZ files, written completely or not at all."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from regretless.optional import need
from regretless.storage import write_bytes, write_text
from regretless.tables.table import suffix_of
from regretless.types import Decisions


def check_decision_file(path: Path | str) -> None:
    """Refuse a file that ``write_decisions`` could not write, before anything is solved."""
    if suffix_of(path) == ".parquet":
        need("pyarrow.parquet", pip="pyarrow", why="write Parquet files")


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
    ending = suffix_of(path)
    names = instance or tuple(str(i) for i in range(len(predicted)))
    status = [str(one) for one in decisions.status]
    if ending == ".npz":
        buffer = io.BytesIO()
        arrays = {"predicted": predicted.numpy(), "decision": decisions.decision.numpy()}
        arrays |= {"objective": decisions.objective.numpy(), "status": np.array(status), "instance": np.array(names)}
        arrays |= {} if found is None else {"found": np.array(found), "gap": decisions.gap.numpy()}
        arrays |= {"cost_names": np.array(cost_names), "variable_names": np.array(variable_names)}
        np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
        write_bytes(path, buffer.getvalue())
        return
    columns: dict[str, list[Any]] = {"instance": list(names), "status": status}
    columns |= {} if found is None else {"found": found, "gap": decisions.gap.tolist()}
    columns["objective"] = decisions.objective.tolist()
    columns |= {f"predicted:{name}": predicted[:, j].tolist() for j, name in enumerate(cost_names)}
    columns |= {f"decision:{name}": decisions.decision[:, j].tolist() for j, name in enumerate(variable_names)}
    if ending == ".parquet":
        arrow = need("pyarrow", pip="pyarrow", why="write Parquet files")
        parquet = need("pyarrow.parquet", pip="pyarrow", why="write Parquet files")
        buffer = io.BytesIO()
        parquet.write_table(arrow.table(columns), buffer)
        write_bytes(path, buffer.getvalue())
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(cell) for cell in row] for row in zip(*columns.values(), strict=True))
    write_text(path, text.getvalue())


def _cell(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return ""
    # Integers without a point: most decisions are.
    return int(value) if value.is_integer() and abs(value) < 1e15 else repr(value)
