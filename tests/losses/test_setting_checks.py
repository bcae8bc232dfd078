from __future__ import annotations

import math

import pytest

from regretless.errors import InputError
from regretless.losses.setting_checks import at_least_one, not_negative, positive


@pytest.mark.parametrize(
    ("check", "good", "bad", "message"),
    [
        (positive, (1, 0.5), (0, -1.0, math.inf, math.nan), "tau must be positive, got"),
        (not_negative, (0, 2.5), (-0.1, math.inf, math.nan), "tau must be at least 0, got"),
        (at_least_one, (1, 7), (0, -3), "tau must be at least 1, got"),
    ],
)
def test_a_number_out_of_range_is_refused_by_name_and_any_other_is_returned(check, good, bad, message):
    assert [check("tau", value) for value in good] == list(good)
    for value in bad:
        with pytest.raises(InputError, match=f"{message} {value}"):
            check("tau", value)


def test_words_and_counts_that_are_no_integers_are_refused():
    with pytest.raises(InputError, match="tau must be positive, got '2'"):
        positive("tau", "2")
    with pytest.raises(InputError, match="tau must be at least 0, got None"):
        not_negative("tau", None)
    for value in (2.5, "3", True):
        with pytest.raises(InputError, match=f"tau must be an integer, at least 1, got {value!r}"):
            at_least_one("tau", value)
