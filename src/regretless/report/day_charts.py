"""Charts over time: regret per instance and summed up, beside two-stage."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from markupsafe import Markup

from regretless.charts import draw_panels, inline_svg, series_styles, swatch
from regretless.charts.chart_data import Panel, Point, Series
from regretless.charts.text import show
from regretless.report.days import Day
from regretless.report.problem_charts import PageChart

LABELS = 5  # names on the axis
MODEL, BASELINE = "decisions", "two-stage"


def day_charts(days: Sequence[Day], anchor: str) -> tuple[list[PageChart], list[tuple[str, Markup]]]:
    """Charts and their legend; none where there are fewer than two days."""
    if len(days) < 2:
        return [], []
    lines = {}
    if all(day.two_stage_regret is not None for day in days):
        lines[BASELINE] = [day.two_stage_regret or 0.0 for day in days]
    lines[MODEL] = [day.regret for day in days]  # last, so that it is drawn above
    styles = series_styles([(BASELINE, ""), (MODEL, "")])
    ticks = _ticks([day.name for day in days])
    below = "The distance between the lines is the gain over two-stage, in units of the objective; below is better."
    summed = {label: list(accumulate(values)) for label, values in lines.items()}
    charts = [
        ("Regret per instance", "How much worse than the best decision in hindsight.", lines, "regret"),
        ("Regret summed up", below if BASELINE in lines else "", summed, "sum of regrets"),
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
    legend = [
        (label, Markup(inline_svg(swatch(styles[label, ""]), name=f"{anchor}-swatch-{key}")))
        for key, label in enumerate(lines)
    ]
    return drawn, legend


def _points(label: str, days: Sequence[Day], values: Sequence[float]) -> tuple[Point, ...]:
    return tuple(
        Point(float(k), value, None, f"{day.name}\n{label}: {show(value)}")
        for k, (day, value) in enumerate(zip(days, values, strict=True))
    )


def _ticks(names: Sequence[str]) -> list[str]:
    """A name at a few places, evenly spread; the rest are empty."""
    step = max(1, -(-(len(names) - 1) // (LABELS - 1)))
    return [name[:16] if k % step == 0 else "" for k, name in enumerate(names)]
