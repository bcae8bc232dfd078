"""What each figure of the paper shows: learning curves, regret against time, cache growth, regret against p_solve."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from regretless.charts import (
    Chart, Panel, Point, Series, SeriesStyle, draw_panels, mean_curve, restored_point, series_styles, summarize,
)  # fmt: skip
from regretless.charts.numbers import show
from regretless.paper.grid import Grid
from regretless.runs.results import Result, select
from regretless.training import methods as method_table

CACHED, EXACT = 0.05, 1.0
# Panel, then method and p_solve without the cache and with it.
CURVES = (
    ("NCE", ("nce-c", EXACT), ("nce-c", CACHED)),
    ("SPO+", ("spo", None), ("spo-cache", CACHED)),
    ("Blackbox", ("blackbox", None), ("blackbox-cache", CACHED)),
)
PAIR = (("every instance solved", SeriesStyle(1)), ("5 % solved", SeriesStyle(2, marker="s")))
GROWTH = (("nce-c", EXACT), ("nce-c", CACHED), ("map-dc", EXACT), ("map-dc", CACHED), ("spo-cache", CACHED),
          ("blackbox-cache", CACHED))  # fmt: skip
SPREAD = "mean over the seeds, with one sample deviation to each side"


@dataclass(frozen=True)
class Drawing:
    """A drawn figure: the name of its files, its words for the report, and the chart."""

    name: str
    title: str
    caption: str
    question: str
    chart: Chart


Draw = Callable[[Grid, str, Sequence[Result]], Drawing | None]


def learning_curves(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing | None:
    """Q2 and Q3: test regret in training, with and without the cache."""
    columns = [(name, [runs_of(grid, problem, *cell, found) for cell in cells]) for name, *cells in CURVES]
    columns = [(name, lines) for name, lines in columns if any(lines)]
    panels = []
    for over, x_title in (("seconds", "training seconds"), ("solves", "exact solves in training")):
        for name, lines in columns:
            pairs = list(zip(PAIR, lines, strict=True))
            series = [
                _curve(runs, label, style, "test_regret", over, key) for key, ((label, style), runs) in enumerate(pairs)
            ]
            panels.append(Panel(series, x_title, "test regret", name, log_x=over == "solves"))
    chart = draw_panels(panels, columns=len(columns), size=(3.5, 2.8), legend="below") if columns else None
    restored = any(one.restored for panel in panels for one in panel.series)
    ring = " A ring marks where early stopping restored the weights of an earlier epoch." if restored else ""
    return chart and Drawing(
        f"curves-{problem}",
        f"{problem}: learning curves with and without the cache",
        f"Test regret after every epoch ({SPREAD}), above against the time spent in training, below against the exact "
        f"solves it took. Evaluation is outside the clock.{ring}",
        "Q2",
        chart,
    )


def regret_against_time(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing | None:
    """Q4: final test regret against seconds per epoch, all methods."""
    cells: dict[tuple[str, str], list[Result]] = {}
    for run in found:
        p_solve = run.spec.p_solve
        ours = run.status == "done" and run.engine == "oracle" and run.options == grid.options
        if ours and run.spec.problem == problem and p_solve in (None, CACHED, EXACT):
            share = f" {p_solve:.0%}" if method_table.method(run.spec.method).cached else ""
            cells.setdefault((run.spec.method, share), []).append(run)
    if len(cells) < 2:
        return None
    series = []
    for key, ((cell, runs), style) in enumerate(zip(cells.items(), series_styles(cells).values(), strict=True)):
        seconds = statistics.median(run.figures["epoch_seconds"] for run in runs)
        label, regret = "".join(cell), summarize(run.figures.get("regret") for run in runs)
        text = f"{label}: regret {_mean(regret.mean, regret.deviation)}, {show(seconds)} s per epoch"
        point = Point(seconds, float("nan") if regret.mean is None else regret.mean, regret.deviation, text)
        series.append(Series(label, style, (point,), key))
    panel = Panel(series, "seconds per epoch (median over the seeds)", "test regret", log_x=True, spread="bars")
    chart = draw_panels([panel], size=(7.2, 4.4), legend="right")
    return chart and Drawing(
        f"q4-{problem}",
        f"{problem}: regret against time",
        f"Test regret after training ({SPREAD}) against the seconds of one epoch, with the special exact oracle; the "
        "share beside a method is its p_solve. Two-stage takes one instance per step, all others a batch.",
        "Q4",
        chart,
    )


def cache_growth(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing | None:
    """Q2: solutions in the cache, epoch by epoch."""
    series = []
    for key, (cell, style) in enumerate(series_styles(GROWTH).items()):
        runs = runs_of(grid, problem, *cell, found)
        series.append(_curve(runs, f"{cell[0]} {cell[1]:.0%}", style, "cache_size", "epoch", key))
    panel = Panel(series, "epoch", "solutions in the cache", epochs=True)
    chart = draw_panels([panel], size=(6.4, 3.8), legend="right")
    return chart and Drawing(
        f"growth-{problem}",
        f"{problem}: growth of the cache",
        f"Distinct solutions in the cache after every epoch ({SPREAD}). It starts from the optima of the training set.",
        "Q2",
        chart,
    )


def regret_against_p_solve(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing | None:
    """Beyond the paper: test regret for a growing share of exact solves."""
    sweeps = [sweep for sweep in grid.sweeps if problem in sweep.get("problems", grid.problems)]
    shares = {
        method: {p for sweep in grid.sweeps if method in sweep["methods"] for p in sweep["p_solve"]}
        | _own(grid, method)
        for method in dict.fromkeys(method for sweep in sweeps for method in sweep["methods"])
    }
    shares = {method: values for method, values in shares.items() if len(values) > 2}
    ticks = sorted(set().union(*shares.values()))
    series = []
    for key, (method, _) in enumerate(styles := series_styles((method, "") for method in shares)):
        points = []
        for p_solve in sorted(shares[method]):
            runs = runs_of(grid, problem, method, p_solve, found)
            regret = summarize(run.figures.get("regret") for run in runs)
            if regret.mean is not None:
                value = _mean(regret.mean, regret.deviation)
                text = f"{method}, p_solve {p_solve:.0%}: regret {value} over {regret.count} seeds"
                points.append(Point(ticks.index(p_solve), regret.mean, regret.deviation, text))
        series.append(Series(method, styles[method, ""], tuple(points), key))
    labels = [f"{p_solve:.0%}" for p_solve in ticks]
    chart = draw_panels([Panel(series, "p_solve", "test regret", x_ticks=labels, spread="bars")], legend="right")
    return chart and Drawing(
        f"p-solve-{problem}",
        f"{problem}: regret against p_solve",
        f"Test regret after training for several probabilities of an exact solve ({SPREAD}); at 0 % the cache keeps "
        "only the optima of the training set.",
        "Q3",
        chart,
    )


PER_PROBLEM: tuple[Draw, ...] = (learning_curves, regret_against_time, cache_growth)
FOCUS: tuple[Draw, ...] = (regret_against_p_solve,)


def runs_of(grid: Grid, problem: str, method: str, p_solve: float | None, found: Sequence[Result]) -> list[Result]:
    """Finished runs of one cell, with the kind of first weights that most of them have (random on a tie)."""
    if method not in grid.methods:
        return []
    spec = grid.spec(problem, method, **({} if p_solve is None else {"settings": {"p_solve": p_solve}}))
    return max((select(found, spec, init=init) for init in ("random", "shared")), key=len)


def _curve(runs: Sequence[Result], label: str, style: SeriesStyle, column: str, over: str, key: int) -> Series:
    histories: list[Sequence[Mapping[str, float | None]]] = [run.history() for run in runs]
    points = [point for point in mean_curve(histories, column, over=over) if point.x > 0]  # no logarithm of no solve
    dots = [
        Point(point.x, point.y, point.deviation, f"{label}: {column.replace('_', ' ')} "
              f"{_mean(point.y, point.deviation)} after epoch {point.epoch} ({over} {show(point.x)})")
        for point in points
    ]  # fmt: skip
    ends = zip(histories, (run.figures.get("regret") for run in runs), strict=True)
    found = restored_point(ends, over=over) if column == "test_regret" else None
    ring = found and Point(
        found.x, found.y, found.deviation, f"{label}: final regret {_mean(found.y, found.deviation)}"
    )
    return Series(label, style, tuple(dots), key, ring)


def _own(grid: Grid, method: str) -> set[float]:
    row = grid.methods.get(method, {})
    return {row["p_solve"]} if isinstance(row.get("p_solve"), float) else set()


def _mean(mean: float | None, deviation: float | None) -> str:
    return show(mean) + (f" ± {show(deviation, digits=2)}" if deviation else "")
