from __future__ import annotations

import re

from regretless.report.day_charts import day_charts
from regretless.report.days import Day


def days(count: int, two_stage: float | None = 1.0) -> list[Day]:
    return [Day(f"2024-01-{k + 1:02d}", 10.0, 9.0, 1.0 + k, two_stage) for k in range(count)]


def test_both_lines_are_drawn_and_the_axis_has_a_few_names() -> None:
    charts, legend = day_charts(days(28), "a")
    assert [chart.title for chart in charts] == ["Regret per instance", "Regret summed up"]
    assert [label for label, _ in legend] == ["two-stage", "decisions"]
    assert 3 <= sum(f">2024-01-{k + 1:02d}</text>" in charts[0].svg for k in range(28)) <= 6


def test_lines_have_the_keys_of_the_legend_and_every_point_its_own_text() -> None:
    charts, legend = day_charts(days(3), "a")
    assert all(swatch.startswith("<svg ") for _, swatch in legend)
    for chart in charts:
        assert set(re.findall(r'data-series="(\d+)"', chart.svg)) == {"0", "1"}
        for label in ("two-stage", "decisions"):
            assert len(re.findall(rf"<title>2024-01-0\d\n{label}: ", chart.svg)) == 3


def test_the_sum_is_the_sum() -> None:
    charts, _ = day_charts(days(4), "a")
    assert "decisions: 10.00" in charts[1].svg


def test_without_a_baseline_there_is_one_line() -> None:
    charts, legend = day_charts(days(5, None), "a")
    assert [label for label, _ in legend] == ["decisions"]
    assert charts[1].caption == ""


def test_one_day_is_no_chart() -> None:
    assert day_charts(days(1), "a") == ([], [])
    assert len(day_charts(days(2), "a")[0]) == 2
