"""Charts, drawn once with matplotlib, for the report, the paper's figures and the pages of the documentation."""

from __future__ import annotations

from regretless.charts.chart_data import Chart, Panel, Point, Series
from regretless.charts.style import chart_style
from regretless.charts.panels import draw_panels, swatch
from regretless.charts.seed_means import mean_curve, restored_point, summarize
from regretless.charts.series_style import SeriesStyle, series_styles
from regretless.charts.svg import inline_svg, png_file, svg_file

__all__ = [
    "Chart", "Panel", "Point", "Series", "SeriesStyle", "chart_style", "draw_panels", "inline_svg", "mean_curve",
    "png_file", "restored_point", "series_styles", "summarize", "svg_file", "swatch",
]  # fmt: skip
