from __future__ import annotations

import math

import pytest

from regretless.number_text import number_text, percentage


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567.891, "1,234,568"), (-1e7, "-10,000,000"), (1234.5678, "1,235"), (1e15, "1e+15"),
        (999.96, "1,000"), (999.94, "999.9"), (123.456, "123.5"), (0.0123456, "0.01235"), (1.23456e-6, "1.235e-06"),
        (0.0, "0"), (-0.0, "0"), (2048, "2,048"), (7, "7"), (math.inf, "inf"), (math.nan, "nan"),
    ],
)  # fmt: skip
def test_four_digits_or_all_before_the_point(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.5, "50.00"), (0.0, "0.00"), (4e-5, "0.004"), (-4e-5, "-0.004"), (1e-12, "1e-10"), (math.nan, "nan")],
)
def test_only_zero_reads_as_zero(share: float, text: str) -> None:
    assert percentage(share) == text
