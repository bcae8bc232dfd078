from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.family import Family, member
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
    with pytest.raises(InputError, match=r"instance 0 .* a constant: False; instance 1 .* a constant: True"):
        Family([MILP([[1.0, 1.0]]), MILP([[1.0, 1.0]], constant=1.0)])
    with pytest.raises(InputError, match="the same cost map: instance 1 has another than instance 0"):
        Family([MILP([[1.0, 1.0]], cost_map=[[1.0, 0.0]]), MILP([[1.0, 1.0]], cost_map=[[0.0, 1.0]])])
    with pytest.raises(InputError, match="the same cost map: instance 1 has another than instance 0"):
        Family([MILP([[1.0, 1.0]], cost_map=np.eye(2)), MILP([[1.0, 1.0]])])


@st.composite
def mapped_families(draw: st.DrawFn) -> tuple[list[MILP], Family]:
    """Members with any cost map, known costs that differ, and perhaps constants."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = 3
    maps = [None, [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [[1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]]
    cost_map = maps[draw(st.integers(0, 3))]
    constant = draw(st.booleans())
    members = [
        MILP(
            [rng.integers(0, 3, n)],
            row_upper=float(rng.integers(0, 5)),
            cost_map=cost_map,
            fixed_cost=rng.choice([0.0, 1.0, -2.0], n),
            constant=float(rng.integers(1, 4)) if constant else 0.0,
        )
        for _ in range(3)
    ]
    return members, Family(members)


BOX = np.array(list(itertools.product((0.0, 1.0), repeat=3)))


@given(case=mapped_families(), seed=st.integers(0, 1000))
def test_a_solution_shows_its_decision_and_has_the_objective_of_every_member(
    case: tuple[list[MILP], Family], seed: int
) -> None:
    members, family = case
    c = np.random.default_rng(seed).normal(size=family.dimension)
    solutions = family[0].solution(BOX)
    assert solutions.shape == (8, family.width)
    assert np.array_equal(family.decisions(solutions), BOX)
    for i, milp in enumerate(members):
        # the same rows serve every member: only the costs differ
        assert np.array_equal(family[i].solution(BOX), solutions)
        costs = np.zeros(family.width)
        costs[: family.dimension] = c
        if family.known is not None:
            costs += family.known[i]
        weights = np.append(c, 1.0) if milp.has_fixed_cost else c
        assert np.allclose(solutions @ costs, milp.solution(BOX) @ weights)
        constant = costs[-1] if milp.constant else 0.0
        assert np.allclose(BOX @ family[i].objective(costs[None])[0] + constant, solutions @ costs)
    assert np.array_equal(family.feasible(BOX), np.stack([milp.check(BOX) for milp in members]))


def test_known_costs_belong_to_the_fingerprint() -> None:
    prints = {Family([MILP([[1.0, 1.0]], fixed_cost=[1.0, h])]).fingerprint for h in (0.0, 1.0, 2.0)}
    assert len(prints) == 3


def test_variations_of_one_model_by_name() -> None:
    base = MILP([[1.0, 1.0]], row_upper=1.0, names=["a", "b"], row_names=["capacity"])
    family = Family.vary(base, row_upper={"capacity": [0.0, 1.0, 2.0]}, fixed_cost={"b": [0.0, 5.0, 0.0]})
    assert len(family) == 3
    assert [float(milp.row_upper[0]) for milp in family] == [0.0, 1.0, 2.0]
    assert family.known is not None
    assert family.known.tolist() == [[0.0, 0.0], [0.0, 5.0], [0.0, 0.0]]
    assert all(milp.A is base.A for milp in family), "one matrix for all"
    assert family.feasible([[1.0, 0.0], [1.0, 1.0]]).tolist() == [[False, False], [True, False], [True, True]]
    assert len(Family.vary(base)) == 1


def test_a_variation_that_is_a_member_keeps_its_id() -> None:
    base = MILP([[1.0, 1.0]], row_upper=1.0, names=["a", "b"], row_names=["capacity"])
    family = Family.vary(base, row_upper={"capacity": [1.0, 2.0]})
    assert family.add(row_upper={"capacity": [2.0, 3.0, 3.0]}) == [1, 2, 2]
    assert family.add(row_upper={"capacity": [2.0]}, fixed_cost={"a": [1.0]}) == [3]
    assert family.add() == [0]
    for other in (copy.deepcopy(family), pickle.loads(pickle.dumps(family))):
        assert other.add(row_upper={"capacity": [3.0, 4.0]}) == [2, 4]
    assert len(family) == 4


def test_the_relaxation_of_a_family_keeps_known_costs() -> None:
    family = Family([MILP([[1.0, 1.0]], fixed_cost=[1.0, h]) for h in (0.0, 2.0)])
    relaxed = family.relax()
    assert not relaxed[1].integer.any()
    assert relaxed.known is not None
    assert relaxed.known.tolist() == [[1.0, 0.0], [1.0, 2.0]]
    assert family[1].integer.all()


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


def test_sides_of_rows_with_tiny_coefficients_vary_in_the_units_of_the_caller() -> None:
    milp = MILP([[1e-5, 2e-5]], row_upper=1e-5, row_names=["capacity"])
    family = Family.vary(milp, row_upper={"capacity": [1e-5, 3e-5]})
    assert family.feasible([[1, 0], [1, 1]]).tolist() == [[True, False], [True, True]]
    assert family.add(row_upper=[[3e-5], [2e-5]]) == [1, 2]
    assert family.variations() == {"row_upper": pytest.approx(np.array([[1e-5], [3e-5], [2e-5]]), rel=0, abs=0)}
    assert Family.vary(milp, **family.variations()).fingerprint == family.fingerprint
    with pytest.raises(InputError, match="between the bounds 4e-05 and 1e-05 of the row 'capacity'"):
        family.add(row_lower={"capacity": [4e-5]})


def test_a_relaxed_family_finds_its_members_again() -> None:
    family = Family.vary(MILP([[1.0, 1.0]], row_names=["capacity"]), row_upper={"capacity": [1.0, 2.0]})
    assert family.relax().add(row_upper={"capacity": [2.0, 1.0, 0.5]}) == [1, 0, 2]
    assert family.add(row_upper={"capacity": [0.5]}) == [2], "the family itself has not grown"


def test_variations_make_the_same_family_again() -> None:
    base = MILP([[1.0, 1.0, 0.0]], row_upper=1.0, cost_map=[[0.0, 1.0, 0.0]], fixed_cost=[1.0, 0.0, 0.0], constant=2.0)
    family = Family.vary(base)
    family.add(row_upper=[[2.0], [1.0]], fixed_cost=[[1.0, 0.0, 0.0], [3.0, 0.0, 1.0]])
    assert set(family.variations()) == {"row_upper", "fixed_cost"}
    again = Family.vary(base, **family.variations())
    assert again.fingerprint == family.fingerprint
    with pytest.raises(InputError, match="only families made by"):
        Family([base, MILP([[1.0, 1.0, 1.0]], cost_map=[[0.0, 1.0, 0.0]], constant=1.0)]).variations()


def test_the_rows_of_a_member_are_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    family = Family.vary(MILP([[1.0, 1.0]]), row_upper=[[1.0], [2.0], [3.0]])
    hashed: list[MILP] = []
    original = MILP.fingerprint.fget
    assert original is not None
    monkeypatch.setattr(MILP, "fingerprint", property(lambda milp: (hashed.append(milp), original(milp))[1]))
    assert family.fingerprint == family.fingerprint_of(3)
    family.add(row_upper=[[4.0]])
    assert family.fingerprint == Family([*family.milps]).fingerprint
    assert len(hashed) == 4 + 4
    assert family.relax().fingerprint != family.fingerprint


def test_the_text_of_a_family_has_its_members():
    family = Family.vary(MILP([[1.0, 1.0]]), row_upper=[[1.0], [2.0]])
    assert repr(family) == "Family(2 members of MILP(1 rows, 2 variables, 2 of them integer, 2 costs))"
