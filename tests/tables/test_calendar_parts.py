from __future__ import annotations

import datetime as dt
import math

from hypothesis import given
from hypothesis import strategies as st

from regretless.tables.calendar_parts import OF_DATE, OF_TIME, WEEKDAYS, parts_of


@given(st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)))
def test_every_part_of_a_date_is_a_number_between_minus_one_and_one(when: dt.datetime) -> None:
    parts = parts_of(when)
    assert set(parts) == set(OF_DATE)
    assert all(-1 <= value <= 1 for value in parts.values())
    assert sum(parts[name] for name in WEEKDAYS) == 1
    assert math.isclose(parts["year_sin"] ** 2 + parts["year_cos"] ** 2, 1.0)


def test_the_end_of_a_year_is_next_to_its_start_and_the_end_of_a_day_too() -> None:
    first, last = parts_of(dt.datetime(2024, 1, 1)), parts_of(dt.datetime(2023, 12, 31, 23, 59))
    assert all(abs(first[name] - last[name]) < 0.02 for name in OF_DATE if name.endswith(("sin", "cos")))
    assert (first["weekday=mon"], last["weekday=sun"]) == (1.0, 1.0)


def test_a_time_of_day_has_no_date() -> None:
    parts = parts_of(dt.time(6, 0))
    assert set(parts) == set(OF_TIME)
    assert math.isclose(parts["day_sin"], 1.0)


def test_a_year_and_a_day_begin_at_zero_and_every_second_counts() -> None:
    first = parts_of(dt.datetime(2024, 1, 1))
    assert (first["year_sin"], first["year_cos"], first["day_sin"], first["day_cos"]) == (0.0, 1.0, 0.0, 1.0)
    for middle in (dt.datetime(2024, 7, 2), dt.datetime(2023, 7, 2, 12)):  # 183 of 366 days, 182.5 of 365
        assert math.isclose(parts_of(middle)["year_cos"], -1.0)
        assert abs(parts_of(middle)["year_sin"]) < 1e-9
    assert math.isclose(parts_of(dt.time(12, 0, 30))["day_sin"], -math.sin(2 * math.pi * 30 / 86400))
