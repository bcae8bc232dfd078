from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless import MILP, Problem
from regretless.solvers.checked_engine import CheckedEngine
from regretless.solvers.engine import Outcome
from regretless.solvers.objective_scale import scaled_objectives
from regretless.types import Status

values = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)
WEIGHTS = np.array([[3.0, 8.0, 4.0, 5.0, 7.0, 6.0, 3.0, 4.0]])
POINTS = np.array([x for x in itertools.product((0.0, 1.0), repeat=8) if (WEIGHTS @ x <= 20.0).all()])


@given(st.lists(values, min_size=1, max_size=5))
def test_every_scale_is_a_power_of_two_and_the_last_one_has_the_usual_size(given_values):
    objective = np.array(given_values)
    scales = list(scaled_objectives(objective))
    for scaled in scales:
        (digits, powers), (own_digits, own_powers) = np.frexp(scaled), np.frexp(objective)
        kept = np.abs(scaled) > 1e-300  # smaller ones lose digits
        assert (digits == own_digits)[kept].all()
        assert len(set((powers - own_powers)[kept])) <= 1
    assert np.abs(scales[-1]).max() <= 1e6
    assert not objective.any() or np.abs(scales[-1]).max() >= 1e-2


def test_only_large_coefficients_beside_small_ones_have_a_second_scale():
    sizes = {1.0: 1, 1e6: 1, 1e-9: 1, 1e12: 1}
    assert {size: len(list(scaled_objectives(size * np.array([1.0, 0.0, -0.5])))) for size in sizes} == sizes
    beside_penalty = [scaled.tolist() for scaled in scaled_objectives(np.array([1.0, 2.0**27]))]
    assert beside_penalty == [[2.0**-11, 2.0**16], [2.0**-18, 2.0**9]]


@pytest.mark.parametrize("penalty", [1e7, 1e9, 1e11])
def test_small_costs_count_beside_large_penalties(penalty):
    rng = np.random.default_rng(0)
    costs = -rng.random((100, 8))
    costs[rng.random(costs.shape) < 0.15] = penalty
    found = Problem(MILP(WEIGHTS, row_upper=20.0)).solve(costs)
    best = (costs @ POINTS.T).min(axis=1)
    np.testing.assert_allclose(found.objective, best, atol=1e-6)
    assert {str(status) for status in found.status} == {"optimal"}


def test_an_engine_that_fails_at_the_first_scale_solves_at_the_usual_one():
    class Narrow:
        """An engine that does not reach its tolerance with large costs."""

        def solve(self, objective, start=None):
            seen.append(float(np.abs(objective).max()))
            return Outcome(None, Status.ERROR) if seen[-1] > 1e6 else Outcome(np.ones(2), Status.OPTIMAL)

    seen: list[float] = []
    engine = CheckedEngine(Narrow(), MILP(np.ones((1, 2)), row_upper=2.0))
    assert engine.solve(np.array([1e-9, 2.0**40])).status is Status.OPTIMAL
    assert seen == [2.0**29, 2.0**9]
    assert engine.solve(np.array([1.0, 2.0]), np.zeros(2)).status is Status.OPTIMAL
    assert seen[2:] == [2.0]


def test_a_start_reaches_the_engine_at_every_scale():
    class Failing:
        def solve(self, objective, start=None):
            starts.append(start)
            return Outcome(None, Status.ERROR)

    starts: list[np.ndarray | None] = []
    start = np.array([1.0, 0.0])
    CheckedEngine(Failing(), MILP(np.ones((1, 2)), row_upper=2.0)).solve(np.array([1.0, 2.0**27]), start)
    assert [given is start for given in starts] == [True, True]
