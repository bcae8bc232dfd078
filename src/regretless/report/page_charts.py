"""The charts of the page: those of one problem, and regret over time beside two-stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from markupsafe import Markup

from regretless.charts import SeriesStyle, curve_series, draw_panels, inline_svg, series_styles, swatch
from regretless.charts.chart_data import Panel, Point, Series
from regretless.charts.text import show, show_seconds
from regretless.deciding.audited_run import Day
from regretless.report.groups import Group, Section
from regretless.runs.method_names import BASELINE

Styles = Mapping[tuple[str, str], SeriesStyle]
SPREAD = "Bands and bars show one sample deviation to each side of the mean over the seeds."
RESTORED = (
    "A ring marks where early stopping restored the weights of an earlier epoch: its height is the regret of these "
    "final weights, as in the table."
)
LABELS = 5  # names on the axis
MODEL = "decisions"


@dataclass(frozen=True)
class PageChart:
    """A chart with its words, ready for the page."""

    title: str
    caption: str
    svg: Markup


def legend(styles: Sequence[tuple[str, SeriesStyle]], anchor: str) -> list[tuple[str, Markup]]:
    """Names of series, each with a piece of its line; ``anchor`` begins the ids."""
    return [
        (label, Markup(inline_svg(swatch(style), name=f"{anchor}-swatch-{key}")))
        for key, (label, style) in enumerate(styles)
    ]


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
         Panel(in_time, "training seconds", section.regret, end_only=True)),
        ("Learning curves", "Test regret after each epoch; it is recorded, never used for training.",
         Panel(learning, "epoch", "test regret", epochs=True)),
        ("Regret against the cost of an epoch", "Down and to the left is better.",
         Panel(_epoch_costs(section, styles), "seconds per epoch", f"final {section.regret}",
               log_x=True, labeled=True)),
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
    """Regret against the seconds of training; one point alone compares nothing."""
    series = [
        one if one.points else replace(one, points=_end_of_training(group, section.regret))
        for one, group in zip(_curves(section, styles, "test_regret", over="seconds"), section.groups, strict=True)
    ]
    return series if sum(len(one.points) for one in series) > 1 else []


def _end_of_training(group: Group, regret_name: str) -> tuple[Point, ...]:
    """Where no regret was recorded in training, its end is still known."""
    regret, seconds, epochs = (group.statistic(name) for name in ("regret", "epoch_seconds", "epochs"))
    # The whole time where it is known: a search also spends time outside of its epochs, a closed form has none.
    total = group.statistic("train_seconds").mean
    if total is None and seconds.mean is not None and epochs.mean is not None:
        total = seconds.mean * epochs.mean
    if regret.mean is None or total is None:
        return ()
    text = f"{group.label}\nat the end, {show_seconds(total)} of training\n{regret_name} {regret}"
    return (Point(total, regret.mean, regret.deviation, text),)


def _epoch_costs(section: Section, styles: Styles) -> list[Series]:
    """Final regret against seconds per epoch; one point alone compares nothing."""
    series = []
    for key, group in enumerate(section.groups):
        regret, seconds = group.statistic("regret"), group.statistic("epoch_seconds")
        if regret.mean is not None and seconds.mean is not None:
            text = f"{group.label}\n{show(seconds.mean)} s per epoch\n{section.regret} {regret}"
            point = Point(seconds.mean, regret.mean, regret.deviation, text)
            series.append(Series(group.label, styles[group.method, group.variant], (point,), key))
    return series if len(series) > 1 else []


def day_charts(
    days: Sequence[Day], anchor: str, baseline: str = BASELINE
) -> tuple[list[PageChart], list[tuple[str, Markup]]]:
    """Charts and their legend; none where there are fewer than two days."""
    if len(days) < 2:
        return [], []
    lines = {}
    if all(day.two_stage_regret is not None for day in days):
        lines[baseline] = [day.two_stage_regret or 0.0 for day in days]
    lines[MODEL] = [day.regret or 0.0 for day in days]  # last, so that it is drawn above
    styles = series_styles([(baseline, ""), (MODEL, "")])
    ticks = _ticks([day.instance for day in days])
    below = f"The distance between the lines is the gain over {baseline}, in units of the objective; below is better."
    summed = {label: list(accumulate(values)) for label, values in lines.items()}
    charts = [
        ("Regret per instance", "How much worse than the best decision in hindsight.", lines, "regret"),
        ("Regret summed up", below if baseline in lines else "", summed, "sum of regrets"),
    ]
    drawn = []
    for position, (title, caption, values, y_title) in enumerate(charts):
        series = [
            Series(label, styles[label, ""], _points(label, days, some), key)
            for key, (label, some) in enumerate(values.items())
        ]
        chart = draw_panels([Panel(series, "instance", y_title, log_y=False, x_ticks=ticks, end_only=True)])
        if chart is not None:
            svg = inline_svg(chart, name=f"{anchor}-chart-{position}", title=title)
            drawn.append(PageChart(title, caption, Markup(svg)))
    return drawn, legend([(label, styles[label, ""]) for label in lines], anchor)


def _points(label: str, days: Sequence[Day], values: Sequence[float]) -> tuple[Point, ...]:
    return tuple(
        Point(float(k), value, None, f"{day.instance}\n{label}: {show(value)}")
        for k, (day, value) in enumerate(zip(days, values, strict=True))
    )


def _ticks(names: Sequence[str]) -> list[str]:
    """A name at a few places, evenly spread; the rest are empty."""
    step = max(1, -(-(len(names) - 1) // (LABELS - 1)))
    return [name[:16] if k % step == 0 else "" for k, name in enumerate(names)]
