from __future__ import annotations

import math

import pytest

from regretless.paper.published import Published, published


def test_values_of_the_paper_are_found_by_table() -> None:
    value = published("knapsack-60", "map-dc", "regret", ["table:Regretknapsack"])
    assert value == Published(764.0, 2.0)
    assert published("knapsack-60", "map-dc", "regret", ["table:sota-Regretknapsack"]) is None
    assert published("synthetic-knapsack-60", "map-dc", "regret", ["table:Regretknapsack"]) is None


@pytest.mark.parametrize(
    ("value", "wide"),
    [(Published(1000.0, 1.0), 30.0), (Published(1000.0, 20.0), 40.0), (Published(2.0, math.nan), 0.06)],
)
def test_tolerance_is_the_wider_of_three_per_cent_and_two_deviations(value: Published, wide: float) -> None:
    assert value.tolerance == pytest.approx(wide)
    assert value.agrees(value.mean + 0.999 * wide)
    assert not value.agrees(value.mean - 1.001 * wide)
