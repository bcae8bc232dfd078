"""Read a folder of results; a damaged file costs its own run and nothing else."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regretless.errors import FileError
from regretless.report.attachments import read_figures, read_tables
from regretless.report.collected import DAMAGED, DONE, FAILED, UNFINISHED, Collected, Run
from regretless.report.numbers import number
from regretless.report.order import run_order
from regretless.storage import read_json

SPEC_COLUMNS = ("problem", "method", "init")


def collect(results: Path | str, *, title: str | None = None) -> Collected:
    """Read what a report shows.

    Args:
        results: a folder with ``runs/``, a folder of run folders, or one run folder.
        title: of the page; a plain one where it is ``None``.

    Returns:
        The runs, tables and figures that are there; what cannot be read is among the remarks.

    Raises:
        FileError: there is no such folder.
    """
    results = Path(results)
    if not results.is_dir():
        raise FileError(f"{results} is no folder of results: make one with: regretless demo, train or reproduce")
    remarks: list[str] = []
    runs = [_read_run(folder) for folder in _run_folders(results)]
    if not runs and (results / "results.csv").is_file():
        runs = _from_table(results / "results.csv", remarks)
    return Collected(
        title=title or _title(runs),
        runs=tuple(sorted(runs, key=run_order)),
        tables=read_tables(results / "tables", remarks),
        figures=read_figures(results / "figures", remarks),
        remarks=tuple(remarks),
    )


def _run_folders(results: Path) -> list[Path]:
    if (results / "spec.json").is_file():
        return [results]
    parent = results / "runs" if (results / "runs").is_dir() else results
    return sorted(path.parent for path in parent.glob("*/spec.json"))


def _read_run(folder: Path) -> Run:
    environment: dict[str, str] = {}
    try:
        spec = _object(folder / "spec.json")
    except FileError as error:
        return Run(folder.resolve().name, {}, DAMAGED, error=str(error))
    try:
        environment = {str(key): str(value) for key, value in _object(folder / "environment.json").items()}
        if (folder / "metrics.json").is_file():
            metrics = _object(folder / "metrics.json")
            history = _history(folder / "history.csv")
            return Run(folder.resolve().name, spec, DONE, metrics, history, environment)
        if (folder / "failure.json").is_file():
            kept = str(_object(folder / "failure.json").get("error", "no error text was kept"))
            return Run(folder.resolve().name, spec, FAILED, environment=environment, error=kept)
    except FileError as error:
        return Run(folder.resolve().name, spec, DAMAGED, environment=environment, error=str(error))
    return Run(folder.resolve().name, spec, UNFINISHED, environment=environment)


def _object(path: Path) -> Mapping[str, Any]:
    # A run that failed before anything else may have no environment; every other file is asked for only if it exists.
    value = read_json(path) if path.exists() else {}
    if not isinstance(value, Mapping):
        raise FileError(f"{path} must hold a JSON object, got {type(value).__name__}")
    return value


def _history(path: Path) -> tuple[Mapping[str, float | None], ...]:
    if not path.is_file():
        return ()
    return tuple({key: number(value) for key, value in row.items() if key} for row in _rows(path))


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"cannot read {path} as CSV: {error}") from error


def _from_table(path: Path, remarks: list[str]) -> list[Run]:
    """Take the figures of the runs from ``results.csv`` where the run folders themselves are not kept."""
    try:
        rows = _rows(path)
    except FileError as error:
        remarks.append(str(error))
        return []
    remarks.append(f"the run folders are not here: figures come from {path.name}, and there are no curves")
    runs = []
    for position, row in enumerate(rows, start=1):
        spec: dict[str, Any] = {key: row[key] for key in SPEC_COLUMNS if row.get(key)}
        seed, p_solve = number(row.get("seed")), number(row.get("p_solve"))
        spec |= {"seed": int(seed)} if seed is not None and seed.is_integer() else {}
        spec |= {"settings": {"p_solve": p_solve}} if p_solve is not None else {}
        status = row.get("status") or DONE
        known = status if status in (DONE, FAILED, UNFINISHED) else DAMAGED
        why = "" if known in (DONE, UNFINISHED) else f"status in {path.name}: {status}"
        runs.append(Run(f"row {position}", spec, known, metrics=row, error=why))
    return runs


def _title(runs: list[Run]) -> str:
    problems = sorted({run.problem for run in runs})
    if len(problems) == 1:
        return f"Regret of decisions: {problems[0]}"
    return "Regret of decisions" + (f": {len(problems)} problems" if problems else "")
