from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems.matching.formulation import formulate, make_sides, matching_family

SAME = np.array([[True, False], [False, True]])


def test_a_matching_needs_pairs_of_both_kinds_and_each_node_once() -> None:
    milp = formulate(np.array([[True, True], [False, True]]), 0.5, 0.5)
    assert milp.check([[0, 0, 0, 0]])[0]
    assert milp.check([[0, 1, 1, 0]])[0]
    assert not milp.check([[1, 0, 0, 1]])[0]  # two of one field
    assert not milp.check([[0, 0, 1, 0]])[0]  # none of one field
    assert not milp.check([[1, 0, 1, 0]])[0]  # a right node twice
    assert not formulate(SAME, 0.0, 0.0).check([[1, 1, 0, 0]])[0]  # a left node twice


def test_pairs_are_counted_by_kind() -> None:
    (side,) = make_sides(SAME[None], 0.5, 0.5)
    assert [side.counts(np.array(partners)) for partners in ([0, 1], [1, 0], [0, -1])] == [(2, 0), (0, 2), (1, 0)]


def test_sides_may_differ_in_size() -> None:
    milp = formulate(np.ones((2, 3), dtype=bool), 0.0, 0.0)
    assert milp.n == 6
    assert milp.check([[0, 0, 1, 1, 0, 0]])[0]
    assert not milp.check([[0, 0, 1, 0, 0, 1]])[0]


def test_a_family_has_one_milp_per_instance_and_shares_solutions() -> None:
    family = matching_family(np.stack([SAME, ~SAME]), 0.0, 0.6)
    assert len(family) == 2
    assert family.feasible([[1.0, 0.0, 0.0, 1.0]]).ravel().tolist() == [False, True]


@pytest.mark.parametrize(("p", "q"), [(-0.1, 0.5), (0.6, 0.6), (0.5, float("nan"))])
def test_shares_that_leave_only_the_empty_matching_are_refused(p: float, q: float) -> None:
    with pytest.raises(InputError, match="sum to at most 1"):
        formulate(SAME, p, q)
