from __future__ import annotations

import math

import pytest

from regretless.charts import SeriesStyle, curve_series, summarize
from regretless.charts.chart_data import Series
from regretless.charts.curves import SeedRun, restored_epoch

STYLE = SeriesStyle(0)
Rows = list[dict[str, float | None]]


def curve(*histories: Rows, column: str = "r", over: str = "epoch") -> Series:
    return curve_series("spo", STYLE, [(rows, None) for rows in histories], column, over=over)


def stopped(*test_regrets: float, final: float, validation: tuple[float, ...] = ()) -> SeedRun:
    rows: Rows = [{"test_regret": regret, "seconds": 0.5} for regret in test_regrets]
    for row, regret in zip(rows, validation, strict=False):
        row["validation_regret"] = regret
    return rows, final


def test_statistics_are_mean_and_sample_deviation() -> None:
    found = summarize([1.0, 3.0, None])
    assert (found.mean, found.deviation, found.count, found.lost) == (2.0, pytest.approx(math.sqrt(2)), 2, 0)


def test_values_that_are_not_finite_are_counted_as_lost() -> None:
    found = summarize([1.0, math.nan, math.inf])
    assert (found.mean, found.deviation, found.count, found.lost) == (1.0, None, 1, 2)
    assert summarize([math.inf]).mean == math.inf
    assert summarize([]).mean is None


def test_huge_values_do_not_overflow() -> None:
    assert summarize([1e308, 1e308]).mean == pytest.approx(1e308)
    assert summarize([-1e308, -1e308]).mean == pytest.approx(-1e308)


def test_a_curve_is_the_mean_over_the_seeds_with_their_sample_deviation() -> None:
    (point,) = curve([{"r": 1.0}], [{"r": 3.0}]).points
    assert (point.x, point.y) == (1.0, 2.0)
    assert point.deviation == pytest.approx(math.sqrt(2)), "not the population's, which is 1"
    assert point.text == "spo\nepoch 1\ntest regret 2.000 ± 1.414 (2 seeds)"


def test_seconds_add_up_over_the_epochs() -> None:
    rows: Rows = [{"seconds": 1.0, "r": 5.0}, {"seconds": 2.0, "r": None}, {"seconds": 3.0, "r": 4.0}]
    points = curve(rows, over="seconds").points
    assert [(point.x, point.y) for point in points] == [(1.0, 5.0), (6.0, 4.0)]
    assert "epoch 3, 6 s of training" in points[-1].text


def test_seeds_that_stopped_early_do_not_end_the_curve() -> None:
    points = curve([{"r": 1.0}, {"r": 1.0}], [{"r": 3.0}]).points
    assert [point.y for point in points] == [2.0, 1.0]
    points = curve([{"r": None}, {"r": 1.0}], [{"r": 3.0}]).points
    assert [(point.x, point.y) for point in points] == [(1.0, 3.0), (2.0, 1.0)]


@pytest.mark.parametrize("value", [None, math.nan, math.inf, 1e200])
def test_values_that_cannot_be_drawn_are_left_out(value: float | None) -> None:
    assert [point.y for point in curve([{"r": value}, {"r": 2.0}]).points] == [2.0]
    assert curve([{"seconds": value, "r": 1.0}], over="seconds").points == ()


def test_no_epochs_give_no_points() -> None:
    assert curve([]).points == ()


def test_the_restored_epoch_has_the_final_regret() -> None:
    assert restored_epoch(stopped(9.0, 4.0, 7.0, final=4.0)) == 2
    assert restored_epoch(stopped(9.0, 7.0, 4.0, final=4.0)) is None, "the last weights are the final ones"
    assert restored_epoch(stopped(9.0, 7.0, final=1.0)) is None, "no epoch has the final regret"
    assert restored_epoch(([], 1.0)) is None
    assert restored_epoch(([{"test_regret": None}], None)) is None


def test_among_epochs_of_equal_regret_the_validation_regret_decides() -> None:
    assert restored_epoch(stopped(4.0, 4.0, 7.0, final=4.0, validation=(3.0, 2.0, 5.0))) == 2


def test_a_curve_of_test_regrets_marks_where_early_stopping_ended() -> None:
    runs = [stopped(9.0, 4.0, 7.0, final=4.0), stopped(8.0, 7.0, 6.0, final=6.0)]
    mark = curve_series("two-stage", STYLE, runs, "test_regret", over="seconds").restored
    assert mark is not None
    assert (mark.x, mark.y) == (1.25, 5.0), "means of 1.0 and 1.5 seconds, and of the final regrets"
    assert "early stopping restored the weights of epoch 2 in 1 of 2 seeds\nfinal test regret 5.000" in mark.text
    runs.append(stopped(3.0, 8.0, final=3.0))
    mark = curve_series("two-stage", STYLE, runs, "test_regret").restored
    assert mark is not None
    assert "the weights of epochs 1 to 2 in 2 of 3 seeds" in mark.text


def test_without_an_early_stop_there_is_no_mark() -> None:
    assert curve_series("spo", STYLE, [stopped(9.0, 4.0, final=4.0)], "test_regret").restored is None
    assert curve_series("spo", STYLE, [stopped(9.0, 4.0, 7.0, final=4.0)], "seconds").restored is None
