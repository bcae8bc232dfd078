from __future__ import annotations

from types import SimpleNamespace
from typing import Any, get_args

import pytest

from regretless.runs.run_ledger import grid_ledger, ledger_line, read_count, solve_ledger
from regretless.solvers.ledger import Purpose
from regretless.training import History


def counting(**solves: int) -> Any:
    """A problem that counted so many solves, each of half a second."""
    counts = {name: SimpleNamespace(solves=n, seconds=n / 2) for name, n in solves.items()}
    return SimpleNamespace(statistics=SimpleNamespace(by_purpose=counts))


def solves(found: dict[str, dict[str, float]]) -> dict[str, float]:
    return {purpose: count["solves"] for purpose, count in found.items()}


def test_every_purpose_has_its_solves_and_seconds() -> None:
    found = solve_ledger(counting(labels=4, evaluation=2))
    assert tuple(found) == get_args(Purpose)
    assert found["labels"] == {"solves": 4, "seconds": 2.0}
    assert solves(found) == {"labels": 4, "growth": 0, "watching": 0, "scoring": 0, "evaluation": 2, "decisions": 0}


def test_earlier_solves_are_subtracted_and_labels_are_not() -> None:
    before = solve_ledger(counting(labels=4, growth=10, evaluation=3))
    found = solve_ledger(counting(labels=4, growth=15, evaluation=6), since=before)
    assert solves(found) == {"labels": 4, "growth": 5, "watching": 0, "scoring": 0, "evaluation": 3, "decisions": 0}
    assert found["growth"]["seconds"] == 2.5


def test_epochs_of_an_earlier_process_count() -> None:
    rows = [{"solves": 7, "solver_seconds": 1.0, "watching_solves": 3, "watching_seconds": 0.5}] * 2
    found = solve_ledger(counting(growth=7, watching=3), history=History(rows))
    assert found["growth"] == {"solves": 14, "seconds": 2.0}
    assert found["watching"] == {"solves": 6, "seconds": 1.0}


def test_solves_after_the_last_epoch_count() -> None:
    found = solve_ledger(counting(growth=9), history=History([{"solves": 7, "solver_seconds": 1.0}]))
    assert found["growth"] == {"solves": 9, "seconds": 4.5}


def test_a_ledger_is_one_line_without_the_purposes_that_had_no_solve() -> None:
    none = {"solves": 0, "seconds": 0.0}
    line = ledger_line({"labels": {"solves": 12345, "seconds": 0.04}, "growth": none, "watching": none})
    assert line == "solves: labels 12,345 (0.0 s)"
    assert ledger_line({"labels": none}) == "solves: none"
    one = {"solves": 1, "seconds": 0.0}
    assert ledger_line({"growth": one, "labels": one}) == "solves: labels 1 (0.0 s), growth 1 (0.0 s)"


def test_labels_of_a_grid_count_once_per_problem_and_other_solves_add_up() -> None:
    def run(labels: int, growth: int) -> dict[str, dict[str, float]]:
        return solve_ledger(counting(labels=labels, growth=growth))

    found = grid_ledger([("a", run(9, 2)), ("a", run(12, 3)), ("a", run(0, 1)), ("b", run(5, 4)), ("b", None)])
    assert found["labels"] == {"solves": 17, "seconds": 8.5}
    assert found["growth"] == {"solves": 10, "seconds": 5.0}


@pytest.mark.parametrize("odd", [None, [], {"growth": 3}, {"growth": {"solves": "3", "seconds": float("nan")}}])
def test_a_count_that_cannot_be_read_is_zero(odd: Any) -> None:
    assert read_count(odd, "growth") == {"solves": 0, "seconds": 0}
