"""The charts of one problem: regret against time, learning curves, cost of an epoch, cache growth, certified gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from markupsafe import Markup

from regretless.charts import Panel, Point, Series, SeriesStyle, curve_series, draw_panels, inline_svg
from regretless.charts.text import show, show_seconds
from regretless.report.groups import Group, Section

Styles = Mapping[tuple[str, str], SeriesStyle]
SPREAD = "Bands and bars show one sample deviation to each side of the mean over the seeds."
RESTORED = (
    "A ring marks where early stopping restored the weights of an earlier epoch: its height is the regret of these "
    "final weights, as in the table."
)


@dataclass(frozen=True)
class PageChart:
    """A chart with its words, ready for the page."""

    title: str
    caption: str
    svg: Markup


def problem_charts(section: Section, styles: Styles, anchor: str) -> list[PageChart]:
    """Draw every chart that the runs of a problem allow; ``anchor`` begins the ids inside of the charts."""
    in_time = _in_time(section, styles)
    lines = any(len(one.points) > 1 for one in in_time)
    time_caption = (
        "Each line ends, at its marker, with the total time of training."
        if lines
        else "Each marker stands at the end of a training."
    )
    learning = _curves(section, styles, "test_regret")
    growth = _curves(section, styles, "cache_size", value="{} solutions in the cache")
    gaps = _curves(section, styles, "mean_gap", value="mean certified gap {}")  # only some policies have this column
    charts = (
        ("Regret against time", time_caption,
         Panel(in_time, "training seconds", "test regret", end_only=True)),
        ("Learning curves", "Test regret after each epoch; it is recorded, never used for training.",
         Panel(learning, "epoch", "test regret", epochs=True)),
        ("Regret against the cost of an epoch", "Down and to the left is better.",
         Panel(_epoch_costs(section, styles), "seconds per epoch", "final test regret", log_x=True, labeled=True)),
        ("Cache growth", "The cache starts with the different true optima of the training data.",
         Panel(growth, "epoch", "solutions in the cache", epochs=True)),
        ("Certified gap", "Proven limit of the distance of the cached solutions from the optimum, before solving.",
         Panel(gaps, "epoch", "mean certified gap", epochs=True)),
    )  # fmt: skip
    drawn = []
    for position, (title, caption, panel) in enumerate(charts):
        if chart := draw_panels([panel]):
            spread = any(point.deviation for one in panel.series for point in one.points)
            ring = any(one.restored for one in panel.series)
            svg = inline_svg(chart, name=f"{anchor}-chart-{position}", title=f"{title} on {section.label}")
            words = " ".join([caption, *([SPREAD] if spread else []), *([RESTORED] if ring else [])])
            drawn.append(PageChart(title, words, Markup(svg)))
    return drawn


def _curves(
    section: Section, styles: Styles, column: str, *, over: str = "epoch", value: str = "test regret {}"
) -> list[Series]:
    curves = []
    for key, group in enumerate(section.groups):
        runs = [(run.history, run.metric("regret")) for run in group.runs]
        style = styles[group.method, group.variant]
        curves.append(curve_series(group.label, style, runs, column, over=over, key=key, value=value))
    return curves


def _in_time(section: Section, styles: Styles) -> list[Series]:
    """Test regret against the seconds of training; one point alone compares nothing."""
    series = [
        one if one.points else replace(one, points=_end_of_training(group))
        for one, group in zip(_curves(section, styles, "test_regret", over="seconds"), section.groups, strict=True)
    ]
    return series if sum(len(one.points) for one in series) > 1 else []


def _end_of_training(group: Group) -> tuple[Point, ...]:
    """Where no regret was recorded in training, its end is still known."""
    regret, seconds, epochs = (group.statistic(name) for name in ("regret", "epoch_seconds", "epochs"))
    # The whole time where it is known: a search also spends time outside of its epochs, a closed form has none.
    total = group.statistic("train_seconds").mean
    if total is None and seconds.mean is not None and epochs.mean is not None:
        total = seconds.mean * epochs.mean
    if regret.mean is None or total is None:
        return ()
    text = f"{group.label}\nat the end, {show_seconds(total)} of training\ntest regret {regret}"
    return (Point(total, regret.mean, regret.deviation, text),)


def _epoch_costs(section: Section, styles: Styles) -> list[Series]:
    """Final regret against seconds per epoch; one point alone compares nothing."""
    series = []
    for key, group in enumerate(section.groups):
        regret, seconds = group.statistic("regret"), group.statistic("epoch_seconds")
        if regret.mean is not None and seconds.mean is not None:
            text = f"{group.label}\n{show(seconds.mean)} s per epoch\ntest regret {regret}"
            point = Point(seconds.mean, regret.mean, regret.deviation, text)
            series.append(Series(group.label, styles[group.method, group.variant], (point,), key))
    return series if len(series) > 1 else []
