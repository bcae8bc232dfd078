"""Charts, drawn once with matplotlib, for the report, the paper's figures and the pages of the documentation."""

from __future__ import annotations

from regretless.charts.chart_data import Chart, Panel, Point, Series
from regretless.charts.curves import curve_series, summarize
from regretless.charts.panels import draw_panels, swatch
from regretless.charts.style import SeriesStyle, chart_style, series_styles
from regretless.charts.svg import inline_svg, png_file, svg_file

__all__ = [
    "Chart", "Panel", "Point", "Series", "SeriesStyle", "chart_style", "curve_series", "draw_panels", "inline_svg",
    "png_file", "series_styles", "summarize", "svg_file", "swatch",
]  # fmt: skip
