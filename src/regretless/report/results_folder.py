"""Read a folder of results; a damaged file affects only the run it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regretless.charts.text import number
from regretless.errors import FileError
from regretless.report.attachments import read_attachments
from regretless.report.days import held_out_days
from regretless.report.display_order import run_order
from regretless.report.report_data import DAMAGED, DONE, FAILED, UNFINISHED, ReportData, Run
from regretless.report.results_table import read_rows, runs_from_table
from regretless.runs.held_out import read_held_out
from regretless.runs.run_folder import read_object

MAKE_ONE = "make results with: regretless demo, train or reproduce"


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
            metrics, search = _object(folder / "metrics.json"), _object(folder / "search.json")
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
