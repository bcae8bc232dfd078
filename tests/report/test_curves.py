from __future__ import annotations

import math

import pytest
from regretless.report.collected import DONE, Run
from regretless.report.curves import against_epoch, against_seconds

from regretless.report.groups import Group


def group(*histories: list[dict[str, float | None]]) -> Group:
    return Group("spo", "", tuple(Run(str(i), {}, DONE, history=tuple(rows)) for i, rows in enumerate(histories)))


def test_a_curve_is_the_mean_over_the_seeds_with_their_deviation() -> None:
    (point,) = against_epoch(group([{"test_regret": 1.0}], [{"test_regret": 3.0}]), "test_regret")
    assert (point.epoch, point.x, point.y, point.seeds) == (1, 1.0, 2.0, 2)
    assert point.deviation == pytest.approx(math.sqrt(2))


def test_seconds_add_up_over_the_epochs() -> None:
    rows: list[dict[str, float | None]] = [
        {"seconds": 1.0, "r": 5.0},
        {"seconds": 2.0, "r": None},
        {"seconds": 3.0, "r": 4.0},
    ]
    assert [(point.epoch, point.x, point.y) for point in against_seconds(group(rows), "r")] == [
        (1, 1.0, 5.0),
        (3, 6.0, 4.0),
    ]


def test_seeds_that_stopped_early_do_not_end_the_curve() -> None:
    points = against_epoch(group([{"r": 1.0}, {"r": 1.0}], [{"r": 3.0}]), "r")
    assert [(point.y, point.seeds) for point in points] == [(2.0, 2), (1.0, 1)]


@pytest.mark.parametrize("value", [None, math.nan, math.inf, 1e200])
def test_values_that_cannot_be_drawn_are_left_out(value: float | None) -> None:
    assert [p.y for p in against_epoch(group([{"r": value}, {"r": 2.0}]), "r")] == [2.0]
    assert against_seconds(group([{"seconds": value, "r": 1.0}]), "r") == []


def test_no_epochs_give_no_points() -> None:
    assert against_epoch(group([]), "r") == []
