"""The charts of a problem: regret against time, learning curves, regret against epoch time, cache growth, gaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from regretless.report.charts import Dot, Series, legend, line_chart, scatter
from regretless.report.curves import Point, against_epoch, against_seconds
from regretless.report.groups import Group, Section
from regretless.report.markup import Markup, join, tag
from regretless.report.numbers import show, show_seconds
from regretless.report.series_style import Look

Looks = Mapping[tuple[str, str], Look]
Curve = Callable[[Group], list[Point]]


def charts(section: Section, looks: Looks) -> Markup:
    """Draw every chart that the histories of a problem allow, under one legend."""
    drawn = [chart for chart in (_time(section, looks), _learning(section, looks), _scatter(section, looks),
                                 _growth(section, looks), _gaps(section, looks)) if chart]  # fmt: skip
    if not drawn:
        return tag("p", "There are no histories to draw: the runs have no finished epoch.", class_="note")
    names = [
        Series(key, group.label, looks[group.method, group.variant], ()) for key, group in enumerate(section.groups)
    ]
    return tag("div", legend(names), tag("div", *drawn, class_="charts"), class_="chart-box")


def _time(section: Section, looks: Looks) -> Markup | None:
    def ends(group: Group) -> list[Point]:
        """Where no regret was watched, the end of training is still known."""
        points = against_seconds(group, "test_regret")
        regret, total = group.statistic("regret"), _total_seconds(group)
        if not points and regret.mean is not None and total is not None:
            points = [Point(0, total, regret.mean, regret.deviation, regret.count)]
        return points

    def text(group: Group, point: Point) -> str:
        when = f"after epoch {point.epoch}" if point.epoch else "at the end"
        return f"{group.label}\n{when}, {show_seconds(point.x)} of training\ntest regret {_value(point)}"

    svg = line_chart(
        _series(section, looks, ends, text), title=f"Test regret against training seconds on {section.label}",
        x_title="training seconds", y_title="test regret", end_only=True,
    )  # fmt: skip
    return _figure(svg, "Regret against time", "Each line ends, at its marker, with the total time of training.")


def _learning(section: Section, looks: Looks) -> Markup | None:
    svg = _by_epoch(section, looks, "test_regret", "test regret", "Test regret after each epoch", "test regret {}")
    return _figure(svg, "Learning curves", "Test regret after each epoch; it is watched, never used for training.")


def _growth(section: Section, looks: Looks) -> Markup | None:
    title, name = "Solutions in the cache after each epoch", "solutions in the cache"
    svg = _by_epoch(section, looks, "cache_size", name, title, "{} solutions in the cache")
    return _figure(svg, "Cache growth", "It starts with the different true optima of the training data.")


def _gaps(section: Section, looks: Looks) -> Markup | None:
    """Only where a policy looked at certified gaps: others have no such column."""
    title, name = "Mean certified relative gap of the look-ups", "mean certified gap"
    svg = _by_epoch(section, looks, "mean_gap", name, title, "mean certified gap {}")
    return _figure(svg, "Certified gap", "How far the cached answers can be from the optimum, before solving: a proof.")


def _by_epoch(section: Section, looks: Looks, column: str, name: str, title: str, value: str) -> Markup | None:
    """One column of the histories against the epoch."""

    def text(group: Group, point: Point) -> str:
        return f"{group.label}\nepoch {point.epoch}\n{value.format(_value(point))}"

    return line_chart(
        _series(section, looks, lambda group: against_epoch(group, column), text),
        title=f"{title} on {section.label}", x_title="epoch", y_title=name, whole_x=True, log_x=False,
    )  # fmt: skip


def _scatter(section: Section, looks: Looks) -> Markup | None:
    series = []
    for key, group in enumerate(section.groups):
        regret, seconds = group.statistic("regret"), group.statistic("epoch_seconds")
        if regret.mean is not None and seconds.mean is not None:
            point = Point(0, seconds.mean, regret.mean, regret.deviation, regret.count)
            text = f"{group.label}\n{show(seconds.mean)} s per epoch\ntest regret {_value(point)}"
            dot = Dot(point.x, point.y, point.deviation, text)
            series.append(Series(key, group.label, looks[group.method, group.variant], (dot,)))
    svg = scatter(
        series, title=f"Final test regret against seconds per epoch on {section.label}",
        x_title="seconds per epoch", y_title="final test regret", log_x=True,
    )  # fmt: skip
    return _figure(svg, "Regret against the cost of an epoch", "Down and to the left is better.")


def _series(section: Section, looks: Looks, curve: Curve, text: Callable[[Group, Point], str]) -> list[Series]:
    return [
        Series(
            key, group.label, looks[group.method, group.variant],
            tuple(Dot(point.x, point.y, point.deviation, text(group, point)) for point in curve(group)),
        )
        for key, group in enumerate(section.groups)
    ]  # fmt: skip


def _value(point: Point) -> str:
    spread = f" ± {show(point.deviation)}" if point.deviation else ""
    return f"{show(point.y)}{spread}" + (f" ({point.seeds} seeds)" if point.seeds > 1 else "")


def _total_seconds(group: Group) -> float | None:
    seconds, epochs = group.statistic("epoch_seconds").mean, group.statistic("epochs").mean
    return None if seconds is None or epochs is None else seconds * epochs


def _figure(svg: Markup | None, title: str, caption: str) -> Markup | None:
    if svg is None:
        return None
    return tag("figure", tag("h4", title), svg, tag("figcaption", join([caption])))
