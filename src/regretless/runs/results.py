"""The results of many runs as one table."""

from __future__ import annotations

import csv
import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regretless.cache.policy_names import SETTINGS as POLICY_SETTINGS
from regretless.errors import FileError
from regretless.problems import names as problem_names
from regretless.runs.run_folder import FAILURE, METRICS, read_figures, read_object, run_path
from regretless.runs.run_lock import try_lock
from regretless.runs.spec import INITS, Spec
from regretless.storage import csv_text, write_json, write_text
from regretless.training import methods

COLUMNS = (
    "problem", "method", "p_solve", "seed", "init", "status", "regret", "relative_regret", "mse", "auc", "epochs",
    "epoch_seconds", "solver_seconds", "solves", "lookups", "cache_size", "engine", "options", "run", "error",
)  # fmt: skip
FIGURES = COLUMNS[6:16]
# Figures that count what is not exact, and what they count.
INEXACT = {
    "not_optimal": "labels that were not solved to optimality: the regret is only a bound there",
    "failed": "instances whose solve failed: those are left out of the regret",
    "cut_short": "decisions that were not proven optimal: the regret may be larger than the predictions deserve",
    "training_labels_not_optimal": "training labels that were not proven optimal",
    "training_failed": "solves that failed in training",
}
GRID = "grid.json"  # which runs belong to a folder of results; it is written before the first of them


@dataclass(frozen=True)
class Result:
    """One run of a grid.

    Attributes:
        spec: the run.
        folder: where it is kept.
        status: ``done``, ``failed`` or ``pending``.
        figures: of a run that is done.
        error: of a run that failed.
    """

    spec: Spec
    folder: Path
    status: str
    figures: dict[str, Any] = field(default_factory=dict)
    error: str = ""

    @property
    def engine(self) -> str:
        """The engine that solved; ``oracle`` for the problem's own."""
        return str(self.spec.options.get("engine", "oracle"))

    @property
    def options(self) -> dict[str, Any]:
        """Options of the problem other than its engine."""
        return {key: value for key, value in self.spec.options.items() if key != "engine"}

    def row(self) -> dict[str, Any]:
        """The run as a row of ``results.csv``."""
        spec = self.spec
        figures = {name: self.figures.get(name) for name in FIGURES}
        about = {"engine": self.engine, "options": _words(self.options), "run": spec.digest, "error": self.error}
        key = {"problem": spec.problem, "method": spec.method, "p_solve": spec.p_solve, "seed": spec.seed}
        return key | {"init": spec.init, "status": self.status} | figures | about

    def history(self) -> list[dict[str, float]]:
        """Its epochs, numbers only; empty if it is not done."""
        path = self.folder / "history.csv"
        if self.status != "done" or not path.is_file():
            return []
        try:
            with path.open(encoding="utf-8", newline="") as file:
                return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]
        except (OSError, ValueError, TypeError, csv.Error) as error:
            raise FileError(f"{path} is damaged, it must be a table of numbers: {error}") from error


def register(results: Path | str, specs: Iterable[Spec]) -> None:
    """Note which runs belong to the results: for every cell and seed the latest one.

    So a trial with ``--epochs 1`` in the same folder does not mix with the real runs that follow it.
    """
    path = Path(results) / GRID
    with try_lock(Path(results) / ".locks" / "grid", wait=30.0) as held:
        if not held:
            raise FileError(f"another process has held {path} for 30 seconds: is one hanging?")
        cells = {_cell(spec): spec.as_dict() for spec in (*_registered(path), *specs)}
        write_json(path, cells)


def read_results(results: Path | str) -> list[Result]:
    """All runs that belong to a folder of results, in a fixed order."""
    path = Path(results) / GRID
    if not path.exists():
        raise FileError(f"{results} holds no results: it has no {GRID}; make some with: regretless reproduce")
    return sorted((_result(Path(results), spec) for spec in _registered(path)), key=_order)


def _registered(path: Path) -> list[Spec]:
    return [Spec.from_dict(values) for values in read_object(path).values()] if path.exists() else []


def write_results(found: Sequence[Result], path: Path | str) -> None:
    """Write ``results.csv``, one row per run."""
    write_text(path, csv_text(COLUMNS, (result.row() for result in found)))


def select(found: Iterable[Result], spec: Spec, *, engine: str = "oracle") -> list[Result]:
    """Finished runs of the cell of ``spec``: same problem, method, p_solve and options, any seed."""
    return [
        result
        for result in found
        if result.status == "done"
        and (result.spec.problem, result.spec.method, result.spec.p_solve) == (spec.problem, spec.method, spec.p_solve)
        and policy_words(result.spec) == policy_words(spec)
        and result.options == {key: value for key, value in spec.options.items() if key != "engine"}
        and result.engine == engine
    ]


def of_one_init(runs: Sequence[Result]) -> list[Result]:
    """The runs with the kind of initial weights that most of them have (random on a tie)."""
    return max(([run for run in runs if run.spec.init == init] for init in INITS), key=len)


def mean_and_deviation(found: Sequence[Result], metric: str) -> tuple[float, float]:
    """Mean and sample deviation over the seeds; NaN without, or with too few of them."""
    values = [value for result in found if (value := result.figures.get(metric)) is not None]
    mean = statistics.fmean(values) if values else math.nan
    return mean, statistics.stdev(values) if len(values) > 1 else math.nan


def _result(results: Path, spec: Spec) -> Result:
    folder = run_path(results, spec)
    if (folder / METRICS).exists():
        return Result(spec, folder, "done", read_figures(folder))
    if (folder / FAILURE).exists():
        return Result(spec, folder, "failed", error=str(read_object(folder / FAILURE).get("error", "")))
    return Result(spec, folder, "pending")


def _cell(spec: Spec) -> str:
    """Name of what a run is one seed of; a later run takes the place of an earlier one in the same cell."""
    key = [spec.problem, spec.method, spec.p_solve, spec.seed, spec.init, spec.options]
    words = policy_words(spec)
    if spec.method == "auto":  # a search among other methods, or from another start, is another cell
        words |= {"start": spec.start} if spec.start else {}
        words |= {name: spec.settings[name] for name in ("methods", "committee") if name in spec.settings}
    return json.dumps([*key, words] if words else key, sort_keys=True)


def policy_words(spec: Spec) -> dict[str, Any]:
    """Settings of a policy other than the coin; empty for the coin."""
    words = {name: spec.settings[name] for name in POLICY_SETTINGS if name != "p_solve" and name in spec.settings}
    return {} if words == {"policy": "coin"} else words


def _order(result: Result) -> tuple[Any, ...]:
    spec, problems, known = result.spec, problem_names(), methods.names()
    problem = problems.index(spec.problem) if spec.problem in problems else len(problems)
    p_solve = -1.0 if spec.p_solve is None else spec.p_solve
    place = (problem, spec.problem, known.index(spec.method), p_solve, result.engine != "oracle", result.engine)
    return (*place, _words(result.options), spec.init, spec.seed, spec.digest)


def _words(options: dict[str, Any]) -> str:
    return " ".join(f"{key}={value}" for key, value in sorted(options.items()))
