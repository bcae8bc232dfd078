"""The charts of one problem: regret against time, learning curves, cost of an epoch, cache growth, certified gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from regretless.charts import Panel, Point, Series, SeriesStyle, draw_panels, inline_svg, mean_curve, restored_point
from regretless.charts.numbers import show, show_seconds
from regretless.charts.seed_means import CurvePoint
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
    drawn = (
        _page_chart(
            _over(section, styles, "test_regret", "test regret {}", over="seconds"),
            "Regret against time", "Each line ends, at its marker, with the total time of training.",
            f"Test regret against training seconds on {section.label}", f"{anchor}-time",
        ),
        _page_chart(
            _over(section, styles, "test_regret", "test regret {}"),
            "Learning curves", "Test regret after each epoch; it is recorded, never used for training.",
            f"Test regret after each epoch on {section.label}", f"{anchor}-learning",
        ),
        _page_chart(
            _epoch_cost(section, styles),
            "Regret against the cost of an epoch", "Down and to the left is better.",
            f"Final test regret against seconds per epoch on {section.label}", f"{anchor}-cost",
        ),
        _page_chart(
            _over(section, styles, "cache_size", "{} solutions in the cache", y_title="solutions in the cache"),
            "Cache growth", "The cache starts with the different true optima of the training data.",
            f"Solutions in the cache after each epoch on {section.label}", f"{anchor}-cache",
        ),
        # Only a policy that computes certified gaps has this column.
        _page_chart(
            _over(section, styles, "mean_gap", "mean certified gap {}", y_title="mean certified gap"),
            "Certified gap", "Proven upper limit of the distance between the cached solutions and the optimum, before "
            "solving.", f"Mean certified relative gap of the look-ups on {section.label}", f"{anchor}-gap",
        ),
    )  # fmt: skip
    return [chart for chart in drawn if chart is not None]


def _page_chart(panel: Panel, title: str, caption: str, alternative: str, name: str) -> PageChart | None:
    chart = draw_panels([panel])
    if chart is None:
        return None
    spread = any(point.deviation for one in panel.series for point in one.points)
    restored = any(one.restored for one in panel.series)
    words = [caption, *([SPREAD] if spread else []), *([RESTORED] if restored else [])]
    return PageChart(title, " ".join(words), Markup(inline_svg(chart, name=name, title=alternative)))


def _over(
    section: Section, styles: Styles, column: str, value: str, *, over: str = "epoch", y_title: str = "test regret"
) -> Panel:
    """A column of the histories against the epoch or the training time."""
    in_time = over == "seconds"

    def text(group: Group, point: CurvePoint) -> str:
        when = f"after epoch {point.epoch}" if point.epoch else "at the end"
        place = f"{when}, {show_seconds(point.x)} of training" if in_time else f"epoch {point.epoch}"
        return f"{group.label}\n{place}\n{value.format(_mean(point.y, point.deviation, point.seeds))}"

    series = []
    for key, group in enumerate(section.groups):
        points = mean_curve([run.history for run in group.runs], column, over=over)
        if in_time and not points:
            points = _end_of_training(group)
        restored = _restored(group, over) if column == "test_regret" else None
        dots = tuple(Point(point.x, point.y, point.deviation, text(group, point)) for point in points)
        series.append(Series(group.label, styles[group.method, group.variant], dots, key, restored))
    x_title = "training seconds" if in_time else "epoch"
    return Panel(series, x_title, y_title, epochs=not in_time, markers="end" if in_time else "some")


def _end_of_training(group: Group) -> list[CurvePoint]:
    """Where no regret was recorded along the way, the end of training is still known."""
    regret, seconds, epochs = (group.statistic(name) for name in ("regret", "epoch_seconds", "epochs"))
    if regret.mean is None or seconds.mean is None or epochs.mean is None:
        return []
    return [CurvePoint(0, seconds.mean * epochs.mean, regret.mean, regret.deviation, regret.count)]


def _restored(group: Group, over: str) -> Point | None:
    found = restored_point([(run.history, run.metric("regret")) for run in group.runs], over=over)
    if found is None:
        return None
    first, last = min(found.epochs), max(found.epochs)
    which = f"epoch {first}" if first == last else f"epochs {first} to {last}"
    seeds = f" in {len(found.epochs)} of {found.seeds} seeds" if found.seeds > 1 else ""
    value = _mean(found.y, found.deviation, found.seeds)
    words = f"{group.label}\nearly stopping restored the weights of {which}{seeds}\nfinal test regret {value}"
    return Point(found.x, found.y, found.deviation, words)


def _epoch_cost(section: Section, styles: Styles) -> Panel:
    """Final regret against seconds per epoch; one point alone compares nothing."""
    series = []
    for key, group in enumerate(section.groups):
        regret, seconds = group.statistic("regret"), group.statistic("epoch_seconds")
        if regret.mean is not None and seconds.mean is not None:
            value = _mean(regret.mean, regret.deviation, regret.count)
            text = f"{group.label}\n{show(seconds.mean)} s per epoch\ntest regret {value}"
            point = Point(seconds.mean, regret.mean, regret.deviation, text)
            series.append(Series(group.label, styles[group.method, group.variant], (point,), key))
    kept = series if len(series) > 1 else []
    return Panel(kept, "seconds per epoch", "final test regret", log_x=True, spread="bars", labeled=True)


def _mean(mean: float, deviation: float | None, seeds: int) -> str:
    spread = f" ± {show(deviation)}" if deviation else ""
    return f"{show(mean)}{spread}" + (f" ({seeds} seeds)" if seeds > 1 else "")
