"""Read a folder of results, or its table where there are no run folders; a damaged file affects only its own run."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from regretless.charts.text import number
from regretless.errors import FileError
from regretless.report.attachments import read_attachments
from regretless.report.days import held_out_days
from regretless.report.groups import run_order
from regretless.report.report_data import DAMAGED, DONE, FAILED, UNFINISHED, ReportData, Run
from regretless.runs.held_out import read_held_out
from regretless.runs.run_folder import read_figures, read_object

SPEC_COLUMNS = ("problem", "method", "init")
STATUS = {DONE: DONE, FAILED: FAILED, UNFINISHED: UNFINISHED, "pending": UNFINISHED}
OPTION = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")  # a value may contain spaces
MAKE_ONE = "make results with: regretless demo, train or reproduce"


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


def read_folder(results: Path | str, *, title: str | None = None) -> ReportData:
    """Read what a report shows.

    Args:
        results: a folder with ``runs/``, a folder of run folders, or one run folder.
        title: of the page; ``None`` makes one from the problems.

    Returns:
        Runs, tables and figures of the folder; files that cannot be read are among the remarks.

    Raises:
        FileError: the folder does not exist, or holds neither runs nor tables nor figures.
    """
    results = Path(results)
    if not results.is_dir():
        raise FileError(f"{results} is not a folder of results: {MAKE_ONE}")
    remarks: list[str] = []
    runs = [_read_run(folder) for folder in _run_folders(results)]
    if not runs and (results / "results.csv").is_file():
        runs = runs_from_table(results / "results.csv", remarks)
    attachments = read_attachments(results, remarks)
    if not (runs or attachments):
        raise FileError("; ".join([f"{results} holds no runs, tables or figures to report: {MAKE_ONE}", *remarks]))
    return ReportData(title or _title(runs), tuple(sorted(runs, key=run_order)), attachments, tuple(remarks))


def _run_folders(results: Path) -> list[Path]:
    if (results / "spec.json").is_file():
        return [results]
    parent = results / "runs" if (results / "runs").is_dir() else results
    return sorted(path.parent for path in parent.glob("*/spec.json"))


def _read_run(folder: Path) -> Run:
    name, spec, environment = folder.resolve().name, dict[str, Any](), dict[str, str]()
    try:
        spec = _object(folder / "spec.json")
        environment = {key: str(value) for key, value in _object(folder / "environment.json").items()}
        if (folder / "metrics.json").is_file():
            history = _history(folder / "history.csv")
            metrics, search = read_figures(folder), _object(folder / "search.json")
            view = read_held_out(folder)
            days = () if view is None else tuple(held_out_days(view))
            return Run(name, spec, DONE, metrics, history, environment, search=search, days=days)
        if (folder / "failure.json").is_file():
            why = str(_object(folder / "failure.json").get("error", "the run failed without an error message"))
            return Run(name, spec, FAILED, environment=environment, error=why)
    except FileError as error:
        return Run(name, spec, DAMAGED, environment=environment, error=str(error))
    return Run(name, spec, UNFINISHED, environment=environment)


def _object(path: Path) -> dict[str, Any]:
    # A run that failed early may have no environment; the other files are read only where they exist.
    return read_object(path) if path.exists() else {}


def _history(path: Path) -> tuple[Mapping[str, float | None], ...]:
    rows = read_rows(path) if path.is_file() else []
    return tuple({key: number(value) for key, value in row.items() if key} for row in rows)


def _title(runs: list[Run]) -> str:
    problems = sorted({run.problem for run in runs})
    if len(problems) == 1:
        return f"Regret of decisions: {problems[0]}"
    return "Regret of decisions" + (f": {len(problems)} problems" if problems else "")
