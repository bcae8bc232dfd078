from __future__ import annotations

import pytest
import torch

from regretless.data import Dataset
from regretless.runs.new_rows import Rows, compared, training_rows, training_rows_sentence

KNOWN = Dataset(torch.eye(3), torch.eye(3).double(), torch.eye(3).double(), None, None, ("a", "b", "c"))


def rows(names: tuple[str, ...] | None, first: float = 1.0) -> Rows:
    features = torch.tensor([[first, 0, 0], [5, 6, 7]])
    return Rows(features, torch.tensor([[1, 0, 0], [5, 6, 7]], dtype=torch.float64), None, names)


def test_names_decide_where_both_have_them() -> None:
    found = compared(rows(("c", "d"), first=2.0), KNOWN)
    assert (found.new.names, found.known, found.changed) == (("d",), 1, 1)
    renamed = compared(rows(("x", "y")), KNOWN)
    assert (renamed.known, renamed.renamed) == (0, 1), "the first row has the numbers of a"


def test_a_day_is_known_however_it_is_written() -> None:
    known = Dataset(KNOWN.features, KNOWN.costs, KNOWN.solutions, names=("31.01.2024", "01.02.2024", "02.02.2024"))
    found = compared(rows(("2024-01-31", "2024-02-03")), known)
    assert (found.new.names, found.known, found.changed) == (("2024-02-03",), 1, 0)


def test_numbers_decide_where_names_are_missing() -> None:
    found = compared(rows(None), KNOWN)
    assert (found.new.costs.tolist(), found.known, found.changed) == ([[5, 6, 7]], 1, 0)
    assert compared(rows(None, first=2.0), KNOWN).known == 0


def test_the_same_numbers_under_other_constraints_are_another_row() -> None:
    ids = torch.tensor([0, 1, 2])
    known = Dataset(KNOWN.features, KNOWN.costs, KNOWN.solutions, ids)
    given = rows(None)
    for member, count in ((0, 1), (4, 0)):
        varied = Rows(given.features, given.costs, torch.tensor([member, 4]), None)
        assert compared(varied, known).known == count


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
