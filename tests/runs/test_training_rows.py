from __future__ import annotations

import pytest

from regretless.runs.training_rows import training_rows, training_rows_sentence


@pytest.mark.parametrize(
    ("counts", "released", "said"),
    [
        ((58, 48, 60), True, "58 rows, 10 of them new since the old run (10 that it held out, 0 that it did not have)"),
        (
            (80, 48, 60),
            True,
            "80 rows, 32 of them new since the old run (12 that it held out, 20 that it did not have)",
        ),
        ((1060, 60, 60), True, "1,060 rows, 1,000 of them new since the old run"),
        ((58, 48, 60), False, "58 rows, 10 of them new since the old run"),
        ((48, 48, 60), True, "48 rows, 0 of them new since the old run"),
    ],
)
def test_rows_that_were_held_out_before_are_distinguished(
    counts: tuple[int, int, int], released: bool, said: str
) -> None:
    assert training_rows_sentence(training_rows(*counts, released=released)) == f"Training data: {said}."


def test_other_runs_say_nothing() -> None:
    assert training_rows_sentence({"regret": 1.0}) == ""
    assert training_rows_sentence({"training_rows": "many", "training_rows_new": 1}) == ""
