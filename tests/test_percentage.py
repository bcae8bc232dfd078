from __future__ import annotations

import math

import pytest

from regretless.percentage import percentage


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.5, "50.00"), (0.0, "0.00"), (4e-5, "0.004"), (-4e-5, "-0.004"), (1e-12, "1e-10"), (math.nan, "nan")],
)
def test_only_zero_reads_as_zero(share: float, text: str) -> None:
    assert percentage(share) == text
