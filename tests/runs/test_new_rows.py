from __future__ import annotations

import warnings

import pytest
import torch

from regretless.data import Dataset
from regretless.runs.new_rows import Rows, training_rows, training_rows_sentence, unknown

KNOWN = Dataset(torch.eye(3), torch.eye(3).double(), torch.eye(3).double(), None, None, ("a", "b", "c"))


def rows(names: tuple[str, ...] | None, first: float = 1.0) -> Rows:
    features = torch.tensor([[first, 0, 0], [5, 6, 7]])
    return Rows(features, torch.tensor([[1, 0, 0], [5, 6, 7]], dtype=torch.float64), None, names)


def found(given: Rows, known: Dataset = KNOWN) -> tuple[Rows, str]:
    """The rows that are new, and what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        new = unknown(given, known, source="f.csv", run="run")
    return new, "; ".join(str(one.message) for one in said)


def test_names_decide_where_both_have_them() -> None:
    new, said = found(rows(("c", "d"), first=2.0))
    assert new.names == ("d",)
    assert said.startswith("1 of 2 rows of f.csv are in run already and are left out; 1 of them hold other numbers")
    new, said = found(rows(("x", "y")))
    assert new.names == ("x", "y")
    assert said.startswith("1 new rows of f.csv have the features and costs of rows of run under other names"), (
        "the first row has the numbers of a"
    )


def test_a_day_is_known_however_it_is_written() -> None:
    known = Dataset(KNOWN.features, KNOWN.costs, KNOWN.solutions, names=("31.01.2024", "01.02.2024", "02.02.2024"))
    new, said = found(rows(("2024-01-31", "2024-02-03")), known)
    assert (new.names, said) == (("2024-02-03",), "1 of 2 rows of f.csv are in run already and are left out")


def test_numbers_decide_where_names_are_missing() -> None:
    new, said = found(rows(None))
    assert (new.costs.tolist(), said) == ([[5, 6, 7]], "1 of 2 rows of f.csv are in run already and are left out")
    new, said = found(rows(None, first=2.0))
    assert (len(new), said) == (2, "")


def test_the_same_numbers_under_other_constraints_are_another_row() -> None:
    ids = torch.tensor([0, 1, 2])
    known = Dataset(KNOWN.features, KNOWN.costs, KNOWN.solutions, ids)
    given = rows(None)
    for member, count in ((0, 1), (4, 0)):
        varied = Rows(given.features, given.costs, torch.tensor([member, 4]), None)
        assert len(found(varied, known)[0]) == 2 - count


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
