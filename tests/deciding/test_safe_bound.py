from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache.bounds.multipliers import RelaxationMultipliers
from regretless.deciding.safe_bound import KEPT, Multipliers, safe_bound
from regretless.milp import MILP
from regretless.solvers import make_engine

from .models import all_points, random_model


@given(st.integers(0, 100_000), st.floats(0.0, 10.0))
def test_the_bound_holds_for_any_multipliers(seed: int, size: float) -> None:
    milp, chance = random_model(seed), np.random.default_rng(seed + 1)
    points = all_points(milp)
    points = points[milp.check(points)]
    objective = chance.normal(size=milp.n)
    bound = safe_bound(milp, objective, size * chance.normal(size=(4, milp.A.shape[0])))
    if len(points):
        assert bound <= (points @ objective).min() + 1e-12


def test_with_the_multipliers_of_the_relaxation_it_is_the_value_of_the_relaxation() -> None:
    solved = 0
    for seed in range(40):
        milp = random_model(seed)
        objective = np.random.default_rng(seed + 1).normal(size=milp.n)
        y = RelaxationMultipliers(milp, objective)(objective)
        relaxed = make_engine("highs", milp.relax()).solve(objective)
        if y is not None and relaxed.x is not None:
            assert safe_bound(milp, objective, y[None]) == pytest.approx(float(objective @ relaxed.x), abs=1e-7)
            solved += 1
    assert solved > 10


def test_without_multipliers_or_with_a_free_variable_it_is_the_bound_of_the_box() -> None:
    milp = MILP([[1.0, 1.0]], row_upper=1.0)
    assert safe_bound(milp, np.array([-1.0, 2.0]), np.zeros((1, 1))) == pytest.approx(-1.0)
    free = MILP([[1.0, 1.0]], row_lower=1.0, lower=-np.inf, upper=np.inf, integer=False)
    assert safe_bound(free, np.array([1.0, 2.0]), np.zeros((1, 1))) == -np.inf
    assert safe_bound(free, np.array([1.0, 1.0]), np.array([[1.0]])) == pytest.approx(1.0)


def test_a_reduced_cost_that_is_off_by_rounding_leaves_a_bound_on_free_variables() -> None:
    below = MILP([[3.0]], row_upper=1.0, lower=-np.inf, upper=np.inf, integer=False)
    assert safe_bound(below, np.array([-0.3]), np.array([[-0.1]])) == pytest.approx(-0.1)  # 3 * 0.1 is not 0.3


def test_a_small_reduced_cost_counts_at_a_finite_bound_beside_an_infinite_one() -> None:
    milp = MILP([[1.0]], row_lower=-1e6, lower=-1e6, upper=np.inf, integer=False)
    assert safe_bound(milp, np.array([1.0]), np.array([[1.0 - 5e-10]])) == pytest.approx(-1e6, abs=1e-5)


def test_the_rounding_of_terms_that_cancel_does_not_lift_the_bound_above_the_optimum() -> None:
    chance, above = np.random.default_rng(0), 0
    for _ in range(50):
        row = chance.normal(size=3)
        milp = MILP([row], row_lower=0.0, row_upper=0.0, upper=1e6, integer=False)
        y = 1e9 * chance.normal()
        # The exact minimum over the box is at least the sum of what the exact reduced costs of this objective leave.
        objective = row * y
        exact = [Fraction(float(c)) - Fraction(float(a)) * Fraction(y) for c, a in zip(objective, row, strict=True)]
        lagrangian = sum(min(cost, Fraction(0)) * 10**6 for cost in exact)
        above += Fraction(safe_bound(milp, objective, np.array([[y]]))) > lagrangian
    assert above == 0


def test_multipliers_are_kept_for_costs_of_any_size_and_bounded() -> None:
    kept = Multipliers(2)
    kept.add(np.array([2.0, 4.0]), np.array([1.0, -1.0]))
    assert kept.scaled_to(np.array([5.0, 5.0])).tolist() == [[0.0, 0.0], [10.0, 20.0]]
    kept.add(np.array([1.0]), np.array([1.0]))  # of another model
    for k in range(3 * KEPT):
        kept.add(np.array([k, 1.0]), np.ones(2))
    assert len(kept.scaled_to(np.ones(2))) == KEPT + 1


@pytest.mark.parametrize("size", [1e-15, 1.0, 1e12])
def test_the_bound_is_as_tight_at_tiny_and_huge_costs(size: float) -> None:
    milp = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
    costs = size * np.array([-4.0, -5.0, -6.0])
    y = RelaxationMultipliers(milp, costs)(costs)
    assert y is not None
    assert safe_bound(milp, costs, y[None]) / size == pytest.approx(-9.0)


def test_the_bounds_of_integer_variables_are_those_of_their_integers() -> None:
    milp = MILP([[1.0, 1.0]], row_upper=9.0, lower=[0.4, 0.0], upper=[5.0, 2.7])
    assert safe_bound(milp, np.array([1.0, -1.0]), np.zeros((1, 1))) == pytest.approx(1.0 - 2.0)
