"""What each figure shows: learning curves, regret against time, growth of the cache, regret against p_solve."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from regretless.optional import need
from regretless.paper.grid import Grid
from regretless.runs.results import Result, mean_and_deviation, select
from regretless.runs.spec import Spec
from regretless.training import methods as method_table

CACHED, EXACT = 0.05, 1.0
# (panel, method and p_solve without the cache, the same with it)
CURVES = (
    ("NCE", ("nce-c", EXACT), ("nce-c", CACHED)),
    ("SPO+", ("spo", None), ("spo-cache", CACHED)),
    ("Blackbox", ("blackbox", None), ("blackbox-cache", CACHED)),
)
BLUE, ORANGE = "#1f6fb4", "#d9601a"
MARKERS = "osD^vP<>Xph*d"


@dataclass(frozen=True)
class Drawing:
    """A drawn figure.

    Attributes:
        name: of its files.
        title, caption, question: for the report.
        figure: of matplotlib.
        hover: id of a drawn point -> what it says when pointed at.
    """

    name: str
    title: str
    caption: str
    question: str
    figure: Any
    hover: dict[str, str] = field(default_factory=dict)


Draw = Callable[[Grid, str, Sequence[Result]], Drawing | None]


def learning_curves(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing | None:
    """Q2 and Q3: test regret while training, with and without the cache."""
    panels = [
        (name, [(label, color, _runs(grid, problem, *cell, found)) for label, color, cell in _pair(exact, cached)])
        for name, exact, cached in CURVES
    ]
    panels = [(name, lines) for name, lines in panels if any(runs for _, _, runs in lines)]
    if not panels:
        return None
    figure, axes = _axes(2, len(panels), width=3.3 * len(panels), height=5.4)
    hover: dict[str, str] = {}
    for column, (name, lines) in enumerate(panels):
        for row, (over, label) in enumerate((("seconds", "training seconds"), ("solves", "exact solves in training"))):
            axis = axes[row, column]
            for text, color, runs in lines:
                if runs:
                    _curve(axis, runs, over, color, f"{name}, {text}", hover)
            axis.set_xlabel(label)
            axis.set_ylabel("test regret" if column == 0 else "")
            if over == "solves":
                _logarithmic(axis)
        axes[0, column].set_title(name)
        axes[0, column].legend(fontsize=8)
    return Drawing(
        f"curves-{problem}",
        f"{problem}: learning curves with and without the cache",
        "Test regret after every epoch (mean over the seeds; the band is one deviation), above against the time spent "
        "in training, below against the exact solves it took. Evaluation is outside the clock.",
        "Q2",
        figure,
        hover,
    )


def regret_against_time(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing | None:
    """Q4: final test regret against seconds per epoch, all methods."""
    cells: dict[str, list[Result]] = {}
    for run in found:
        p = run.spec.p_solve
        ours = run.status == "done" and run.engine == "oracle" and run.options == grid.options
        if not ours or run.spec.problem != problem or p not in (None, CACHED, EXACT):
            continue
        tail = f" {p:.0%}" if method_table.method(run.spec.method).cached else ""
        cells.setdefault(run.spec.method + tail, []).append(run)
    if len(cells) < 2:
        return None
    figure, axes = _axes(1, 1, width=7.2, height=4.4)
    axis, hover = axes[0, 0], {}
    for i, (label, runs) in enumerate(cells.items()):
        seconds = float(np.median([run.figures["epoch_seconds"] for run in runs]))
        regret, deviation = mean_and_deviation(runs, "regret")
        mark = {"marker": MARKERS[i % len(MARKERS)], "color": f"C{i % 10}", "label": label, "linestyle": "none"}
        (point,) = axis.plot([seconds], [regret], markersize=7, **mark)
        point.set_gid(f"q4-{problem}-{i}")
        hover[f"q4-{problem}-{i}"] = f"{label}: regret {_spread(regret, deviation)}, {seconds:.3g} s per epoch"
    _logarithmic(axis)
    axis.set_xlabel("seconds per epoch (median over the seeds)")
    axis.set_ylabel("test regret")
    axis.legend(fontsize=7.5, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return Drawing(
        f"q4-{problem}",
        f"{problem}: regret against time",
        "Test regret after training against the seconds of one epoch, with the special exact oracle; the share beside "
        "a method is its p_solve. Two-stage takes one instance a step, all others a batch.",
        "Q4",
        figure,
        hover,
    )


def cache_growth(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing | None:
    """How the cache grows, epoch by epoch."""
    wanted = [("nce-c", EXACT), ("nce-c", CACHED), ("map-dc", EXACT), ("map-dc", CACHED)]
    wanted += [("spo-cache", CACHED), ("blackbox-cache", CACHED)]
    lines = [(cell, _runs(grid, problem, *cell, found)) for cell in wanted]
    if not any(runs for _, runs in lines):
        return None
    figure, axes = _axes(1, 1, width=6.4, height=3.8)
    axis, hover = axes[0, 0], dict[str, str]()
    for i, ((method, p), runs) in enumerate(lines):
        if runs:
            _curve(axis, runs, "epoch", f"C{i}", f"{method} {p:.0%}", hover, of="cache_size", dashed=p == CACHED)
    axis.set_xlabel("epoch")
    axis.set_ylabel("solutions in the cache")
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return Drawing(
        f"growth-{problem}",
        f"{problem}: growth of the cache",
        "Distinct solutions in the cache after every epoch (mean over the seeds; the band is one deviation). It starts "
        "from the optima of the training set.",
        "Q2",
        figure,
        hover,
    )


def regret_against_p_solve(grid: Grid, problem: str, found: Sequence[Result]) -> Drawing | None:
    """Beyond the paper: what a larger share of exact solves buys."""
    swept = dict.fromkeys(m for s in grid.sweeps if problem in s.get("problems", grid.problems) for m in s["methods"])
    cells = {
        m: sorted({p for s in grid.sweeps if m in s["methods"] for p in s["p_solve"]} | _own(grid, m)) for m in swept
    }
    cells = {m: shares for m, shares in cells.items() if len(shares) > 2}
    figure, axes = _axes(1, 1, width=6.4, height=3.8)
    axis, hover = axes[0, 0], {}
    for i, (method, shares) in enumerate(cells.items()):
        points = []
        for j, p in enumerate(shares):
            runs = _runs(grid, problem, method, p, found)
            if runs:
                points.append((j, p, *mean_and_deviation(runs, "regret"), len(runs)))
        if not points:
            continue
        xs, ys = [x for x, *_ in points], [y for _, _, y, *_ in points]
        spread = [0.0 if math.isnan(d) else d for _, _, _, d, _ in points]
        axis.errorbar(xs, ys, yerr=spread, color=f"C{i}", label=method, capsize=2, linewidth=1)
        for x, p, y, d, seeds in points:
            (point,) = axis.plot([x], [y], marker=MARKERS[i], color=f"C{i}", markersize=6)
            name = f"p-{problem}-{method}-{p:g}"
            point.set_gid(name)
            hover[name] = f"{method}, p_solve {p:.0%}: regret {_spread(y, d)} over {seeds} seeds"
        axis.set_xticks(range(len(shares)), [f"{p:.0%}" for p in shares])
    if not hover:
        return None
    axis.set_xlabel("p_solve")
    axis.set_ylabel("test regret")
    axis.legend(fontsize=8)
    return Drawing(
        f"p-solve-{problem}",
        f"{problem}: regret against p_solve",
        "Test regret after training for several probabilities of an exact solve (mean and deviation over the seeds); "
        "at 0 % the cache keeps the training optima only.",
        "Q3",
        figure,
        hover,
    )


EACH: tuple[Draw, ...] = (learning_curves, regret_against_time, cache_growth)
FOCUS: tuple[Draw, ...] = (regret_against_p_solve,)


def _pair(exact: tuple[str, Any], cached: tuple[str, Any]) -> list[tuple[str, str, tuple[str, Any]]]:
    return [("every instance solved", BLUE, exact), ("5 % solved", ORANGE, cached)]


def _own(grid: Grid, method: str) -> set[float]:
    row = grid.methods.get(method, {})
    return {row["p_solve"]} if isinstance(row.get("p_solve"), float) else set()


def _runs(grid: Grid, problem: str, method: str, p_solve: float | None, found: Sequence[Result]) -> list[Result]:
    """Finished runs of one cell, of the kind of first weights that has most of them (random on a tie)."""
    if method not in grid.methods:
        return []
    settings = {} if p_solve is None else {"settings": {"p_solve": p_solve}}
    spec: Spec = grid.spec(problem, method, **settings)
    return max((select(found, spec, init=init) for init in ("random", "shared")), key=len)


def _curve(
    axis: Any,
    runs: Sequence[Result],
    over: str,
    color: str,
    label: str,
    hover: dict[str, str],
    *,
    of: str = "test_regret",
    dashed: bool = False,
) -> None:
    histories = [rows for run in runs if (rows := run.history()) and of in rows[0]]
    if not histories:
        return
    epochs = min(map(len, histories))
    values = np.array([[row[of] for row in rows[:epochs]] for rows in histories])
    steps = np.array([[row[over] for row in rows[:epochs]] for rows in histories])
    x = (steps if over == "epoch" else steps.cumsum(axis=1)).mean(axis=0)
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    shown = x > 0 if over == "solves" else x >= 0  # no logarithm of no solve
    x, mean, deviation = x[shown], mean[shown], deviation[shown]
    style = "--" if dashed else "-"
    axis.plot(x, mean, color=color, label=label.partition(", ")[2] or label, linewidth=1.3, linestyle=style)
    # Neither a regret nor a count is below zero, however far its deviation reaches.
    axis.fill_between(x, np.maximum(mean - deviation, 0.0), mean + deviation, color=color, alpha=0.15, linewidth=0)
    for i, (at, y) in enumerate(zip(x, mean, strict=True)):
        (point,) = axis.plot([at], [y], marker="o", markersize=2.5, color=color)
        name = f"curve-{len(hover)}"
        point.set_gid(name)
        hover[name] = f"{label}: {of.replace('_', ' ')} {y:.4g} after epoch {i + 1} ({over} {at:.4g})"


def _axes(rows: int, columns: int, *, width: float, height: float) -> tuple[Any, Any]:
    figures = need("matplotlib.figure", pip="regretless[figures]", why="draw figures")
    figure = figures.Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _logarithmic(axis: Any) -> None:
    """A logarithmic axis with plain numbers, at 1, 2 and 5 or, where they would run into each other, at 1 alone."""
    ticker = need("matplotlib.ticker", pip="regretless[figures]", why="draw figures")
    axis.set_xscale("log")
    low, high = axis.get_xlim()
    axis.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 100 else (1.0,)))
    axis.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}"))
    axis.xaxis.set_minor_formatter(ticker.NullFormatter())


def _spread(mean: float, deviation: float) -> str:
    return f"{mean:.4g}" if math.isnan(deviation) else f"{mean:.4g} ± {deviation:.2g}"
