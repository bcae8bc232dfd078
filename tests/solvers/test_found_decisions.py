from __future__ import annotations

import numpy as np

from regretless.solvers.found_decisions import FoundDecisions


def test_equal_decisions_are_kept_once_and_those_that_are_not_finite_never() -> None:
    found = FoundDecisions(2)
    assert found.add(np.array([[1.0, 0.0], [1.0, -0.0], [np.inf, 0.0], [0.0, 1.0]])) == [0, 1]
    assert found.add(np.array([[0.0, 1.0]])) == []
    assert found.rows.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_full_set_drops_the_oldest_and_may_find_it_again() -> None:
    found = FoundDecisions(1, capacity=3)
    found.add(np.arange(5.0)[:, None])
    assert sorted(found.rows[:, 0].tolist()) == [2.0, 3.0, 4.0]
    assert len(found.add(np.array([[0.0]]))) == 1
    assert sorted(found.rows[:, 0].tolist()) == [0.0, 3.0, 4.0]


def test_it_grows_beyond_its_first_size() -> None:
    found = FoundDecisions(1)
    found.add(np.arange(300.0)[:, None])
    assert found.rows[:, 0].tolist() == list(range(300))


def test_a_saved_state_replaces_what_was_found_and_drops_the_same_decision_next() -> None:
    found, again = FoundDecisions(1, capacity=3), FoundDecisions(1, capacity=3)
    found.add(np.arange(4.0)[:, None])
    again.add(np.array([[7.0], [8.0]]))
    again.load_state_dict(found.state_dict())
    for one in (found, again):
        one.add(np.array([[2.0], [9.0]]))
    assert again.rows.tolist() == found.rows.tolist() == [[3.0], [9.0], [2.0]]


def test_long_decisions_take_bounded_memory() -> None:
    assert FoundDecisions(1_000_000).capacity == 8


def test_a_set_that_was_filled_twice_holds_the_latest() -> None:
    found = FoundDecisions(1, capacity=3)
    found.add(np.arange(11.0)[:, None])
    assert sorted(found.rows[:, 0].tolist()) == [8.0, 9.0, 10.0]
    assert found.add(np.array([[8.0], [9.0], [10.0]])) == []
