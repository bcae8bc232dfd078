from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.family import Family, member, shared_rows
from regretless.milp import MILP


@st.composite
def families(draw: st.DrawFn) -> Family:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 4))
    members = []
    for _ in range(draw(st.integers(1, 4))):
        rows = int(rng.integers(0, 3))
        low = rng.choice([-np.inf, -1.0, 0.0, 1e4], rows)
        high = np.maximum(rng.choice([np.inf, 1.0, 2.0, 1e4], rows), low)
        upper = rng.choice([1.0, 3.0, 1e5, np.inf], n)
        A = rng.integers(-2, 3, (rows, n)).astype(float)
        members.append(MILP(A, row_lower=low, row_upper=high, upper=upper, integer=rng.random(n) < 0.5))
    return Family(members)


@given(family=families(), seed=st.integers(0, 1000))
def test_feasible_agrees_with_every_members_own_check(family: Family, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = [0.0, 1.0, 2.0, 0.5, -1.0, 1.0 + 5e-7, -5e-7, 1e4, 1e4 + 0.005, 1e5 + 0.05, np.inf, np.nan]
    x = rng.choice(values, (8, family[0].n))
    expected = np.stack([milp.check(x) for milp in family])
    assert np.array_equal(family.feasible(x), expected)
    assert np.array_equal(family.feasible(x, 1e-9), np.stack([milp.check(x, 1e-9) for milp in family]))


def test_members_are_found_by_their_number() -> None:
    members = [MILP([[1.0, 1.0]], row_upper=float(k)) for k in range(3)]
    family = Family(members)
    assert len(family) == 3
    assert list(family) == members
    assert family[2] is members[2]


def test_no_solutions_give_an_empty_mask() -> None:
    assert Family([MILP([[1.0, 1.0]])] * 3).feasible(np.zeros((0, 2))).shape == (3, 0)


def test_an_empty_family_is_refused() -> None:
    with pytest.raises(InputError, match="a family needs at least one MILP, got none"):
        Family([])


def test_a_member_of_another_shape_is_named() -> None:
    with pytest.raises(InputError, match=r"instance 0 has n=2, d=2, .* instance 1 has n=3, d=3"):
        Family([MILP([[1.0, 1.0]]), MILP([[1.0, 1.0, 1.0]])])
    with pytest.raises(InputError, match=r"instance 0 .* known costs: False; instance 1 .* known costs: True"):
        Family([MILP([[1.0, 1.0]]), MILP([[1.0, 1.0]], fixed_cost=1.0)])


def test_solutions_are_shared_where_they_show_the_decision() -> None:
    assert Family([MILP([[1.0, 1.0]], fixed_cost=1.0)]).shares
    assert not Family([MILP([[1.0, 1.0]], cost_map=[[1.0, 1.0]])]).shares


def test_members_may_be_added_at_any_time() -> None:
    one, two = MILP([[1.0, 1.0]], row_upper=1.0), MILP([[1.0, 1.0], [1.0, 0.0]], row_upper=2.0)
    family = Family([one])
    before = family.fingerprint
    assert family.feasible([[1.0, 1.0]]).tolist() == [[False]]
    assert family.append(two) == 1
    assert family.extend([one, two]) == [2, 3]
    assert family.extend([]) == []
    assert family.feasible([[1.0, 1.0]]).ravel().tolist() == [False, True, False, True]
    assert family.feasible([[1.0, 1.0]], members=[3, 0]).ravel().tolist() == [True, False]
    assert family.fingerprint_of(1) == before != family.fingerprint == Family([one, two, one, two]).fingerprint
    with pytest.raises(InputError, match=r"instance 0 has n=2, .* instance 5 has n=1"):
        family.extend([one, MILP([[1.0]])])
    assert len(family) == 4, "nothing is added where one does not fit"


@given(seed=st.integers(0, 2**32 - 1))
def test_shared_rows_are_solutions_of_the_instances_that_they_serve(seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = [None, rng.integers(0, 3, 3).astype(float) + 1, rng.integers(0, 3, 3).astype(float) + 1]
    kinds = [0] * 4 if rng.random() < 0.3 else rng.integers(1, 3, 4)
    family = Family(
        [MILP([rng.integers(0, 3, 3)], row_upper=float(rng.integers(0, 5)), fixed_cost=known[k]) for k in kinds]
    )
    box = np.array([[a, b, c] for a in (0.0, 1.0) for b in (0.0, 1.0) for c in (0.0, 1.0)])
    ids, solutions = [], []
    for i, milp in enumerate(family):
        x = box[milp.check(box)][-1]
        ids.append(i)
        solutions.append(milp.solution(x)[0])
    rows, serves = shared_rows(family, np.array(solutions), ids)
    assert serves.shape == (4, len(rows))
    for i, milp in enumerate(family):
        mine = rows[serves[i]]
        assert milp.check(mine[:, :3]).all()
        assert np.allclose(milp.solution(mine[:, :3]), mine)
        # every decision that was found and fits is among them
        found = {tuple(row[:3]) for row in solutions if milp.check(row[:3])[0]}
        assert found == {tuple(row[:3]) for row in mine}


def test_solutions_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match=r"x must have shape \(batch, 2\), got \(1, 3\)"):
        Family([MILP([[1.0, 1.0]])]).feasible([[1.0, 0.0, 0.0]])


def test_the_fingerprint_knows_members_and_their_order() -> None:
    one, two = MILP([[1.0]], row_upper=1.0), MILP([[1.0]], row_upper=2.0)
    prints = [Family(members).fingerprint for members in ([one], [one, one], [one, two], [two, one])]
    assert len(set(prints)) == 4
    assert Family([one, two]).fingerprint == prints[2]
    for other in (pickle.loads(pickle.dumps(Family([one, two]))), copy.deepcopy(Family([one, two]))):
        assert other.fingerprint == prints[2]


def test_a_model_that_is_not_a_family_is_that_of_every_instance():
    one, other = MILP([[1.0]], row_upper=1.0), MILP([[1.0]], row_upper=2.0)
    assert member(one) is member(one, 3) is one
    assert member(Family([one, other])) is one
    assert member(Family([one, other]), 1) is other
