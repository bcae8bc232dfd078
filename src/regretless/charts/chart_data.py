"""What a chart is made of: points, series and panels, plain frozen data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from regretless.charts.axis_scale import drawable
from regretless.charts.series_style import SeriesStyle


@dataclass(frozen=True)
class Point:
    """A place, the half height of its band or bar, and the text that is shown when it is pointed at."""

    x: float
    y: float
    deviation: float | None = None
    text: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of the bar; what is never negative (regrets, counts, seconds) does not reach below zero."""
        reach = self.deviation if self.deviation is not None and drawable(self.deviation) else 0.0
        return max(self.y - reach, 0.0) if self.y >= 0 else self.y - reach, self.y + reach


@dataclass(frozen=True)
class Series:
    """One line, or one point, of a panel.

    Attributes:
        label: name in the legend.
        style: color, dash and marker.
        points: in the order of the line.
        key: number that all charts under one legend share for this series.
        restored: the weights that training ended with, where these are not those of the last point.
    """

    label: str
    style: SeriesStyle
    points: tuple[Point, ...]
    key: int = 0
    restored: Point | None = None


@dataclass(frozen=True)
class Panel:
    """Series with their axes.

    Attributes:
        series: what to draw; points without a place on the axes are left out.
        x_title, y_title: of the axes; a logarithmic axis adds that it is one.
        title: above the panel.
        log_x, log_y: ``None`` lets the values decide.
        epochs: the x axis counts epochs and has no margin.
        spread: how a deviation is drawn; a single point always has a bar.
        markers: on ``"some"`` points of a line, at its ``"end"``, or ``"none"``.
        x_ticks: labels of the x values 0, 1, 2, ...
        labeled: whether the name of each series stands beside its first point.
    """

    series: Sequence[Series]
    x_title: str
    y_title: str
    title: str = ""
    log_x: bool | None = None
    log_y: bool | None = None
    epochs: bool = False
    spread: Literal["band", "bars"] = "band"
    markers: Literal["some", "end", "none"] = "some"
    x_ticks: Sequence[str] = ()
    labeled: bool = False


@dataclass(frozen=True)
class Chart:
    """A figure of matplotlib, and the texts of its points by the id of the group that holds them."""

    figure: Any
    hover: dict[str, tuple[str, ...]] = field(default_factory=dict)
