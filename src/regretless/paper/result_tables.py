"""The paper's tables, with our values beside the published ones."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from regretless.paper.grid import TABLES, Grid
from regretless.paper.policy_points import policy_points
from regretless.paper.table_text import as_csv, as_latex, as_markdown, layout
from regretless.runs.results import Result, mean_and_deviation, select
from regretless.storage import write_json, write_text

# 3 % of the published mean or 2 published deviations, whichever is wider.
SHARE = 0.03
DEVIATIONS = 2.0
TOLERANCE = (
    f"Cells marked * differ from the published mean by more than {SHARE:.0%} and by more than "
    f"{DEVIATIONS:g} published deviations."
)
COLUMNS = (
    "problem", "metric", "method", "p_solve", "init", "seeds", "ours", "ours_deviation",
    "published", "published_deviation", "difference", "tolerance", "outside",
)  # fmt: skip
TIMING = (
    "problem", "cached", "exact", "engine", "seconds_cached", "seconds_exact", "ratio",
    "published_cached", "published_exact", "published_ratio",
)  # fmt: skip
POLICY = ("problem", "metric", "policy", "p_solve", "share", "ours", "ours_deviation", "seeds")


@dataclass(frozen=True)
class Published:
    """A value of the paper.

    Attributes:
        mean: over its runs.
        deviation: over its runs; NaN if the paper gives none.
    """

    mean: float
    deviation: float

    @property
    def tolerance(self) -> float:
        """Largest difference that counts as reproduced."""
        wide = 0.0 if math.isnan(self.deviation) else DEVIATIONS * self.deviation
        return max(SHARE * abs(self.mean), wide)

    def agrees(self, value: float) -> bool:
        """Whether ``value`` is within the tolerance.

        >>> Published(764, 2).agrees(780), Published(764, 2).agrees(790)
        (True, False)
        """
        return abs(value - self.mean) <= self.tolerance


def published(problem: str, method: str, metric: str, sources: Sequence[str]) -> Published | None:
    """Look a value up in the tables named ``sources``; ``None`` if the paper has none."""
    for source in sources:
        value = _values().get((problem, method, metric, source))
        if value is not None:
            return value
    return None


@cache
def _values() -> dict[tuple[str, str, str, str], Published]:
    file = resources.files("regretless.paper") / "published.csv"
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return {
        (row["problem"], row["method"], row["metric"], row["source"]): Published(
            float(row["mean"]), float(row["std"]) if row["std"] else math.nan
        )
        for row in rows
    }


@dataclass(frozen=True)
class TableData:
    """A table: its definition in the grid, and its cells, one per row.

    Attributes:
        about: name, title, caption, question, remark and label.
        columns: names of the cells' fields.
        rows: the cells; ``None`` or NaN for missing values.
    """

    about: dict[str, Any]
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]

    @property
    def outside(self) -> list[dict[str, Any]]:
        """Cells outside the tolerance."""
        return [row for row in self.rows if row.get("outside")]


def make_tables(grid: Grid, found: Sequence[Result]) -> list[TableData]:
    """Make all tables of a grid; cells without runs have the published value only."""
    return [KINDS[table.get("kind", "")](grid, table, found) for table in grid.tables]


def write_tables(tables: Sequence[TableData], folder: Path | str) -> None:
    """Write each table as CSV, Markdown and LaTeX, with a JSON file that says what it is."""
    for table in tables:
        base, about = Path(folder) / table.about["name"], table.about
        write_text(base.with_suffix(".csv"), as_csv(table.columns, table.rows))
        write_text(base.with_suffix(".md"), as_markdown(about, table.rows))
        write_text(base.with_suffix(".tex"), as_latex(about, table.rows))
        words = {key: about[key] for key in ("title", "caption", "question", "label")}
        # The CSV has one figure per line, for programs; the report shows the layout with problems side by side.
        write_json(base.with_suffix(".json"), words | {"shown": layout(table.rows)})


def caption(about: dict[str, Any]) -> str:
    """Return the caption with the tolerance and the remark."""
    marked = TOLERANCE if not about.get("kind") and about.get("sources") else ""
    return " ".join(part for part in (about["caption"], marked, about.get("remark", "")) if part)


def _regret(grid: Grid, about: dict[str, Any], found: Sequence[Result]) -> TableData:
    rows = []
    for problem in grid.problems:
        for metric in about["metrics"]:
            for method in about["methods"]:
                rows += _cells(grid, about, found, problem, metric, method)
    return TableData(about | {"caption": caption(about)}, COLUMNS, rows)


def _cells(
    grid: Grid, about: dict[str, Any], found: Sequence[Result], problem: str, metric: str, method: str
) -> list[dict[str, Any]]:
    """Make one cell for each kind of initial weights among the runs; without runs, only the published value."""
    paper = published(problem, method, metric, about.get("sources", ()))
    runs = select(found, grid.spec(problem, method))
    inits = sorted({run.spec.init for run in runs}) or [""]
    cells = []
    for init in inits:
        of_init = [run for run in runs if run.spec.init == init]
        factor = grid.unit.get(metric, 1)
        mean, deviation = (factor * value for value in mean_and_deviation(of_init, metric))
        known = paper is not None and not math.isnan(mean)
        cells.append(
            {
                "problem": problem, "metric": metric, "method": method, "init": init, "seeds": len(of_init),
                "p_solve": of_init[0].spec.p_solve if of_init else None,
                "ours": mean, "ours_deviation": deviation,
                "published": paper.mean if paper else None, "published_deviation": paper.deviation if paper else None,
                "difference": mean - paper.mean if paper and known else None,
                "tolerance": paper.tolerance if paper else None,
                "outside": not paper.agrees(mean) if paper and known else None,
            }
        )  # fmt: skip
    return cells


def _timing(grid: Grid, about: dict[str, Any], found: Sequence[Result]) -> TableData:
    """Seconds per epoch of a cached method over those of the exact one, engine by engine."""
    rows = []
    engines = sorted({run.engine for run in found}, key=lambda name: (name == "oracle", name))
    for problem in grid.problems:
        for cached, exact in about["pairs"]:
            paper = [published(problem, name, "epoch_seconds", about.get("sources", ())) for name in (cached, exact)]
            for engine in engines:
                runs = [select(found, grid.spec(problem, name), engine=engine) for name in (cached, exact)]
                ours = [mean_and_deviation(some, "epoch_seconds")[0] for some in runs]
                if engine != "highs" and any(math.isnan(value) for value in ours):
                    continue
                rows.append(
                    {
                        "problem": problem, "cached": cached, "exact": exact, "engine": engine,
                        "seconds_cached": ours[0], "seconds_exact": ours[1], "ratio": ours[0] / ours[1],
                        "published_cached": paper[0].mean if paper[0] else None,
                        "published_exact": paper[1].mean if paper[1] else None,
                        "published_ratio": paper[0].mean / paper[1].mean if paper[0] and paper[1] else None,
                    }
                )  # fmt: skip
    return TableData(about | {"caption": caption(about)}, TIMING, rows)


def _policies(grid: Grid, about: dict[str, Any], found: Sequence[Result]) -> TableData:
    """Test regret of every policy at every share of solves."""
    rows = [
        {
            "problem": problem, "metric": "regret", "policy": policy, "p_solve": point.p_solve, "share": point.share,
            "ours": point.regret, "ours_deviation": point.deviation, "seeds": point.seeds,
        }
        for problem in grid.problems
        for policy, points in policy_points(grid, problem, found).items()
        for point in points
    ]  # fmt: skip
    return TableData(about | {"caption": caption(about)}, POLICY, rows)


KINDS = dict(zip(TABLES, (_regret, _timing, _policies), strict=True))
