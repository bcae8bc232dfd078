"""The leaderboard: regret of every method in every cell, and what it comes to over all cells."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regretless.charts import png_file, svg_file
from regretless.runs.results import Result
from regretless.runs.spec import Spec
from regretless.storage import csv_text, write_bytes, write_json, write_text
from regretless.suite.cells import Cell
from regretless.suite.leaderboard_text import LEAST, CellScore, MethodScore, draw_leaderboard, leaderboard_markdown

BASELINE = "two-stage"
NO_REGRET = "it has no relative regret: no test instance was solved, or all optima are zero"


@dataclass(frozen=True)
class Leaderboard:
    """All methods, best first, and their figures per cell.

    Attributes:
        methods: over the cells in which every method has results.
        cells: one entry per cell and method, over the seeds that all methods of the cell have: another seed is another
            draw of the data. Where there is no such seed, an entry is over all seeds of its method.
        compared: names of the cells in which every method has results for the same seeds.
        failed: descriptions of runs that failed or have no relative regret, which are in no other figure.
    """

    methods: list[MethodScore]
    cells: list[CellScore]
    compared: list[str]
    failed: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def make_leaderboard(found: Sequence[Result]) -> Leaderboard:
    """Summarize the runs of a suite, given in any order."""
    cell_of = cell_names([result.spec for result in found])
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in found:
        if result.status == "done" and _has_regret(result):
            groups.setdefault((cell_of[result.spec.digest], method_name(result.spec)), []).append(result)
    names = list(dict.fromkeys(method for _, method in groups))
    common: dict[str, set[int]] = {}  # the seeds that all methods of a cell have
    for (cell, _), runs in groups.items():
        seeds = {run.spec.seed for run in runs}
        common[cell] = common.get(cell, seeds) & seeds
    cells = [
        _cell_score(cell, method, [run for run in runs if run.spec.seed in common[cell]] or runs)
        for (cell, method), runs in groups.items()
    ]
    by_cell = {cell: {score.method: score for score in cells if score.cell == cell} for cell in common}
    compared = [cell for cell, scores in by_cell.items() if len(scores) == len(names) and common[cell]]
    methods = [_method_score(name, [by_cell[cell] for cell in compared]) for name in names]
    methods.sort(key=lambda score: (math.inf if math.isnan(score.ratio) else score.ratio, score.rank))
    failed = [
        f"{cell_of[r.spec.digest]}, {method_name(r.spec)}, seed {r.spec.seed}: {r.error or NO_REGRET}"
        for r in found
        if r.status == "failed" or (r.status == "done" and not _has_regret(r))
    ]
    return Leaderboard(methods, cells, compared, failed)


def write_leaderboard(board: Leaderboard, out: Path | str) -> None:
    """Write ``leaderboard.md``, ``.json``, ``.csv`` and the figure into a folder."""
    out = Path(out)
    write_json(out / "leaderboard.json", board.as_dict())
    columns = list(CellScore.__dataclass_fields__)
    write_text(out / "leaderboard.csv", csv_text(columns, (asdict(score) for score in board.cells)))
    # The cells of the table: in others, methods may have seen different data.
    chart = draw_leaderboard([score for score in board.cells if score.cell in board.compared], BASELINE)
    if chart is not None:
        write_text(out / "leaderboard.svg", svg_file(chart))
        write_bytes(out / "leaderboard.png", png_file(chart))
    picture = "leaderboard.svg" if chart is not None else None
    write_text(out / "leaderboard.md", leaderboard_markdown(board.methods, board.cells, board.compared, picture))


def method_name(spec: Spec) -> str:
    """Name of the method of a run: that of the search, or of the only method that it tries; and its start."""
    single = spec.settings.get("methods") if spec.method == "auto" else None
    name = str(single[0]) if single and len(single) == 1 else spec.method
    return name + (f", {spec.start} start" if spec.start not in ("", "two-stage") else "")


def cell_names(specs: Sequence[Spec]) -> dict[str, str]:
    """Names of the cells of runs, by the digest of the run; with all options where two cells have the same name.

    The grids have cells of the same degree and number of training instances, but of other sizes.
    """
    options = {spec.digest: {k: v for k, v in spec.options.items() if k != "seed"} for spec in specs}
    kinds: dict[str, list[dict[str, Any]]] = {}
    for spec in specs:
        kinds.setdefault(_short_name(spec), []).append(options[spec.digest])
    names = {}
    for spec in specs:
        name, mine = _short_name(spec), options[spec.digest]
        words = [f"{k}={v}" for k, v in sorted(mine.items()) if k not in ("train", "deg")]
        same = all(other == mine for other in kinds[name])
        names[spec.digest] = name if same or not words else f"{name} ({', '.join(words)})"
    return names


def _short_name(spec: Spec) -> str:
    return Cell(spec.problem, int(spec.options.get("train", 0)), spec.options.get("deg")).name


def _has_regret(run: Result) -> bool:
    regret = run.figures.get("relative_regret")
    return regret is not None and math.isfinite(regret)


def _cell_score(cell: str, method: str, runs: Sequence[Result]) -> CellScore:
    regrets = [100.0 * float(run.figures["relative_regret"]) for run in runs]
    return CellScore(
        cell=cell,
        method=method,
        seeds=len(runs),
        regret=statistics.fmean(regrets),
        deviation=statistics.stdev(regrets) if len(regrets) > 1 else None,
        solves=statistics.fmean(_training_solves(run.figures) for run in runs),
        seconds=statistics.fmean(float(run.figures["train_seconds"]) for run in runs),
    )


def _training_solves(figures: dict[str, Any]) -> float:
    """Exact solves of training and of the search; labels and the final evaluation are the same for all methods."""
    ledger = figures["ledger"]
    return float(sum(ledger[purpose]["solves"] for purpose in ("growth", "watching", "scoring")))


def _method_score(method: str, cells: Sequence[dict[str, CellScore]]) -> MethodScore:
    ratios, ranks, wins = [], [], 0
    for scores in cells:
        mine = scores[method].regret
        # Two regrets that differ by rounding only share a rank.
        better = sum(other.regret < mine - LEAST for other in scores.values())
        ranks.append(1 + better)
        wins += better == 0
        if BASELINE in scores:
            ratios.append(max(mine, LEAST) / max(scores[BASELINE].regret, LEAST))
    return MethodScore(
        method=method,
        ratio=math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan,
        worst=max(ratios) if ratios else math.nan,
        rank=statistics.fmean(ranks) if ranks else math.nan,
        wins=wins,
        solves=statistics.fmean(scores[method].solves for scores in cells) if cells else math.nan,
        seconds=statistics.fmean(scores[method].seconds for scores in cells) if cells else math.nan,
    )
