"""Runs from ``results.csv``, for a folder of results whose run folders were not kept."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regretless.charts.text import number
from regretless.errors import FileError
from regretless.report.report_data import DAMAGED, DONE, FAILED, UNFINISHED, Run

SPEC_COLUMNS = ("problem", "method", "init")
STATUS = {DONE: DONE, FAILED: FAILED, UNFINISHED: UNFINISHED, "pending": UNFINISHED}
OPTION = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")  # a value may contain spaces


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a CSV file by the names of its columns.

    Raises:
        FileError: the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"cannot read {path} as CSV: {error}") from error


def runs_from_table(path: Path, remarks: list[str]) -> list[Run]:
    """One run per row; what cannot be read, and what the table does not say, is added to the remarks.

    The table has no column for the settings of a method. Two rows that are alike, seed included, are runs with other
    settings: they and the other seeds of such rows stand each for itself, since an average would mix settings.
    """
    try:
        rows = read_rows(path)
    except FileError as error:
        remarks.append(str(error))
        return []
    remarks.append(f"there are no run folders: all figures come from {path.name}, and there are no curves")
    specs = [_spec(row) for row in rows]
    alike = _alike(specs)
    if alike:
        remarks.append(
            f"the file {path.name} does not say in which settings {len(alike)} of its runs differ: each has its own row"
        )
    runs = []
    for at, (row, spec) in enumerate(zip(rows, specs, strict=True)):
        name = f"row {at + 1}"
        if at in alike:
            spec["settings"] = spec.get("settings", {}) | {"run": row.get("run") or name}
        status = row.get("status") or DONE
        known = STATUS.get(status, DAMAGED)
        why = "" if known in (DONE, UNFINISHED) else row.get("error") or f"status in {path.name}: {status}"
        runs.append(Run(name, spec, known, metrics=row, error=why))
    return runs


def _spec(row: dict[str, Any]) -> dict[str, Any]:
    """What a row says about the specification of its run."""
    spec: dict[str, Any] = {key: row[key] for key in SPEC_COLUMNS if row.get(key)}
    seed, p_solve = number(row.get("seed")), number(row.get("p_solve"))
    spec |= {"seed": int(seed)} if seed is not None and seed.is_integer() else {}
    spec |= {"settings": {"p_solve": p_solve}} if p_solve is not None else {}
    options = dict(OPTION.findall(row.get("options") or ""))
    engine = row.get("engine") or "oracle"
    options |= {} if engine == "oracle" else {"engine": engine}
    return spec | ({"options": options} if options else {})


def _alike(specs: Sequence[dict[str, Any]]) -> set[int]:
    """Positions of the rows whose group has the same seed more than once."""
    groups = [json.dumps(spec | {"seed": None}, sort_keys=True) for spec in specs]
    count = Counter(zip(groups, (spec.get("seed") for spec in specs), strict=True))
    mixed = {group for (group, _), times in count.items() if times > 1}
    return {at for at, group in enumerate(groups) if group in mixed}
