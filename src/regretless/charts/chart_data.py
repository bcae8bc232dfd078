"""What a chart is made of: points, series and panels, plain frozen data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from regretless.charts.axis_scale import drawable
from regretless.charts.style import SeriesStyle


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

    All charts under one legend share the ``key`` of a series. ``restored`` is the place of the final weights where
    early stopping restored them, so that training did not end with the last point.
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
        x_ticks: labels of the x values 0, 1, 2, ...; an empty one has no tick.
        bars: a deviation is drawn as a bar, not as a band around the line.
        end_only: a line shows its marker at its end only.
        labeled: the name of each series stands beside its first point.
    """

    series: Sequence[Series]
    x_title: str
    y_title: str
    title: str = ""
    log_x: bool | None = None
    log_y: bool | None = None
    epochs: bool = False
    x_ticks: Sequence[str] = ()
    bars: bool = False
    end_only: bool = False
    labeled: bool = False


@dataclass(frozen=True)
class Chart:
    """A figure of matplotlib, and the texts of its points by the id of the group that holds them."""

    figure: Any
    hover: dict[str, tuple[str, ...]] = field(default_factory=dict)
