"""The paper's figures, and two beyond it, as SVG and PNG files."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regretless.charts import SeriesStyle, curve_series, draw_panels, png_file, series_styles, summarize, svg_file
from regretless.charts.chart_data import Chart, Panel, Point, Series
from regretless.charts.curves import Statistic
from regretless.charts.text import show
from regretless.paper.grid import Grid
from regretless.paper.policy_points import has_policies, policy_points
from regretless.runs.results import Result, of_one_init, policy_words, select
from regretless.storage import write_bytes, write_json, write_text
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
STYLES = {"coin": SeriesStyle(1), "largest-gap": SeriesStyle(2, marker="s")}
LEAST = 1e-4  # a share of zero has no place on a logarithmic axis


@dataclass(frozen=True)
class Drawing:
    """A figure: the name of its files, its words for the report, and its chart, ``None`` where nothing can be drawn."""

    name: str
    title: str
    caption: str
    question: str
    chart: Chart | None


Draw = Callable[[Grid, str, Sequence[Result]], Drawing]


def learning_curves(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing:
    """Q2 and Q3: test regret in training, with and without the cache."""
    columns = [(name, [_runs(grid, problem, *cell, found) for cell in cells]) for name, *cells in CURVES]
    columns = [(name, pair) for name, pair in columns if any(pair)]
    panels = []
    for over, x_title in (("seconds", "training seconds"), ("solves", "exact solves in training")):
        for name, pair in columns:
            series = [_curve(*PAIR[key], runs, "test_regret", over, key) for key, runs in enumerate(pair)]
            panels.append(Panel(series, x_title, "test regret", name, log_x=over == "solves"))
    chart = draw_panels(panels, columns=max(1, len(columns)), size=(3.5, 2.8), legend=True)
    restored = any(one.restored for panel in panels for one in panel.series)
    caption = f"Test regret after every epoch ({SPREAD}), above against the time spent in training, below against the "
    caption += "exact solves it took. Evaluation is outside the clock."
    caption += " A ring marks where early stopping restored the weights of an earlier epoch." if restored else ""
    title = f"{problem}: learning curves with and without the cache"
    return Drawing(f"curves-{problem}", title, caption, "Q2", chart)


def regret_against_time(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing:
    """Q4: final test regret against seconds per epoch, all methods."""
    cells: dict[tuple[str, str], list[Result]] = {}
    for run in found:
        p_solve = run.spec.p_solve
        ours = run.status == "done" and run.engine == "oracle" and run.options == grid.options
        if ours and run.spec.problem == problem and p_solve in (None, CACHED, EXACT):
            share = f" {p_solve:.0%}" if method_table.method(run.spec.method).cached else ""
            cells.setdefault((run.spec.method, share), []).append(run)
    series = []
    for key, (cell, style) in enumerate(series_styles(cells).items()):
        runs, label = of_one_init(cells[cell]), "".join(cell)
        seconds = statistics.median(run.figures["epoch_seconds"] for run in runs)
        points = _regret(runs, seconds, f"{label}\n{show(seconds)} s per epoch")
        series.append(Series(label, style, points, key))
    panel = Panel(series, "seconds per epoch (median over the seeds)", "test regret", log_x=True)
    chart = draw_panels([panel], size=(7.2, 4.4), legend=True) if len(series) > 1 else None
    caption = f"Test regret after training ({SPREAD}) against the seconds of one epoch, with the special exact oracle; "
    caption += "the share beside a method is its p_solve. Two-stage takes one instance per step, all others a batch."
    return Drawing(f"q4-{problem}", f"{problem}: regret against time", caption, "Q4", chart)


def cache_growth(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing:
    """Q2: solutions in the cache, epoch by epoch."""
    styles = series_styles((method, f"{p_solve:.0%}") for method, p_solve in GROWTH)
    series = [
        _curve(" ".join(name), style, _runs(grid, problem, *cell, found), "cache_size", "epoch", key)
        for key, (cell, (name, style)) in enumerate(zip(GROWTH, styles.items(), strict=True))
    ]
    panel = Panel(series, "epoch", "solutions in the cache", epochs=True)
    chart = draw_panels([panel], size=(6.4, 3.8), legend=True)
    caption = f"Distinct solutions in the cache after every epoch ({SPREAD}). "
    caption += "It starts from the optima of the training set."
    return Drawing(f"growth-{problem}", f"{problem}: growth of the cache", caption, "Q2", chart)


def regret_against_p_solve(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing:
    """Beyond the paper: test regret for a growing share of exact solves."""
    shares: dict[str, set[float]] = {}
    for sweep in grid.sweeps:
        for method in sweep["methods"] if problem in sweep.get("problems", grid.problems) else ():
            shares.setdefault(method, set()).update(sweep["p_solve"])
    for method, values in shares.items():
        own = grid.methods.get(method, {}).get("p_solve")
        values |= {own} if isinstance(own, float) else set()
    ticks = sorted(set().union(*shares.values()))
    series = []
    for key, ((method, _), style) in enumerate(series_styles((name, "") for name in shares).items()):
        points: list[Point] = []
        for p_solve in sorted(shares[method]) if len(shares[method]) > 2 else ():
            runs = _runs(grid, problem, method, p_solve, found)
            points += _regret(runs, ticks.index(p_solve), f"{method}\np_solve {p_solve:.0%}")
        series.append(Series(method, style, tuple(points), key))
    labels = [f"{p_solve:.0%}" for p_solve in ticks]
    chart = draw_panels([Panel(series, "p_solve", "test regret", x_ticks=labels, bars=True)], legend=True)
    caption = f"Test regret after training for several probabilities of an exact solve ({SPREAD}); at 0 % the cache "
    caption += "keeps only the optima of the training set."
    return Drawing(f"p-solve-{problem}", f"{problem}: regret against p_solve", caption, "Q3", chart)


PER_PROBLEM: tuple[Draw, ...] = (learning_curves, regret_against_time, cache_growth)


def _runs(grid: Grid, problem: str, method: str, p_solve: float | None, found: Sequence[Result]) -> list[Result]:
    """Finished runs of one cell."""
    if method not in grid.methods:
        return []
    spec = grid.spec(problem, method, **({} if p_solve is None else {"settings": {"p_solve": p_solve}}))
    return of_one_init(select(found, spec))


def _curve(label: str, style: SeriesStyle, runs: Sequence[Result], column: str, over: str, key: int) -> Series:
    seeds = [(run.history(), run.figures.get("regret")) for run in runs]
    value = "{} solutions in the cache" if column == "cache_size" else "test regret {}"
    curve = curve_series(label, style, seeds, column, over=over, key=key, value=value)
    # An epoch before the first solve has no place on a logarithmic axis.
    return replace(curve, points=tuple(point for point in curve.points if point.x > 0))


def _regret(runs: Sequence[Result], x: float, words: str) -> tuple[Point, ...]:
    regret = summarize(run.figures.get("regret") for run in runs)
    return () if regret.mean is None else (Point(x, regret.mean, regret.deviation, f"{words}\ntest regret {regret}"),)


def regret_against_solves(grid: Grid, found: Sequence[Result]) -> Drawing:
    """Draw the test regret of each policy against the share of instances that it solved, one panel per problem."""
    panels = []
    for problem in grid.problems:
        lines = policy_points(grid, problem, found)
        if "largest-gap" not in lines:  # the coin alone is no comparison
            continue
        series = []
        for key, (policy, points) in enumerate(lines.items()):
            dots = []
            for point in points:
                deviation = None if math.isnan(point.deviation) else point.deviation
                regret = Statistic(point.regret, deviation, point.seeds, 0)
                text = f"{problem}, {policy}\n{point.share:.2%} solved\ntest regret {regret}"
                dots.append(Point(100 * max(point.share, LEAST), point.regret, deviation, text))
            series.append(Series(policy, STYLES[policy], tuple(dots), key))
        panels.append(Panel(series, "instances solved, %", "test regret", problem, log_x=True, bars=True))
    chart = draw_panels(panels, columns=min(3, max(1, len(panels))), size=(3.3, 2.6), legend=True)
    caption = (
        f"Test regret of map-dc after training ({SPREAD}) against the share of instances that were solved exactly. "
    )
    caption += "The coin is the paper's; largest-gap spends the same budget where the best cached solution and a "
    caption += "Lagrangian bound are furthest apart, and solves no instance whose gap is closed."
    return Drawing("solves", "Regret against the share of solves", caption, "Beyond the paper", chart)


def write_figures(grid: Grid, found: Sequence[Result], folder: Path | str) -> list[str]:
    """Draw every figure of a grid that has runs, and return the names."""
    if has_policies(grid):
        drawn = [regret_against_solves(grid, found)]
    else:
        # The paper's figures are about its coin.
        found = [result for result in found if not policy_words(result.spec)]
        drawn = [draw(grid, problem, found) for problem in grid.problems for draw in PER_PROBLEM]
        drawn.append(regret_against_p_solve(grid, grid.focus, found))
    written = []
    for figure in drawn:
        if figure.chart is not None:
            base = Path(folder) / figure.name
            write_text(base.with_suffix(".svg"), svg_file(figure.chart))
            write_bytes(base.with_suffix(".png"), png_file(figure.chart))
            about = {"title": figure.title, "caption": figure.caption, "question": figure.question}
            write_json(base.with_suffix(".json"), about)
            written.append(figure.name)
    return written
