from __future__ import annotations

import numpy as np
import pytest

from regretless.cache.bounds.relaxation_multipliers import RelaxationMultipliers
from regretless.milp import MILP


def test_multipliers_are_the_prices_of_the_rows():
    # min -3x - 2y with x + y <= 4 and x <= 3 as rows, over 0 <= x, y <= 10: prices -2 and -1.
    milp = MILP([[1.0, 1.0], [1.0, 0.0]], row_upper=[4.0, 3.0], upper=10.0, integer=False)
    costs = np.array([-3.0, -2.0])
    assert RelaxationMultipliers(milp, costs)(costs).tolist() == pytest.approx([-2.0, -1.0])


def test_they_do_not_depend_on_what_was_solved_before():
    generator = np.random.default_rng(0)
    milp = MILP(generator.integers(0, 4, (6, 15)), row_upper=9.0)
    objectives = -generator.integers(0, 4, (12, 15)).astype(float)  # with many ties
    first, second = (RelaxationMultipliers(milp, objectives[0]) for _ in range(2))
    forward = [first(objective) for objective in objectives]
    backward = [second(objective) for objective in objectives[::-1]][::-1]
    assert all(np.array_equal(a, b) for a, b in zip(forward, backward, strict=True))


def test_without_an_optimum_there_are_none():
    unbounded = MILP([[1.0]], row_lower=0.0, upper=np.inf, integer=False)
    assert RelaxationMultipliers(unbounded, np.array([-1.0]))(np.array([-1.0])) is None
    infeasible = MILP([[1.0]], row_lower=5.0)
    assert RelaxationMultipliers(infeasible, np.array([1.0]))(np.array([1.0])) is None


@pytest.mark.parametrize("size", [1e-12, 1e9, 1e12])
def test_tiny_and_huge_costs_have_the_multipliers_of_usual_ones_in_their_size(size):
    milp = MILP([[1.0, 1.0], [1.0, 0.0]], row_upper=[4.0, 3.0], upper=10.0, integer=False)
    costs = size * np.array([-3.0, -2.0])
    assert RelaxationMultipliers(milp, costs)(costs) / size == pytest.approx([-2.0, -1.0])


def test_huge_costs_of_a_free_variable_have_multipliers_that_leave_no_reduced_cost():
    for seed in range(20):
        generator = np.random.default_rng(seed)
        rows, point = generator.integers(-3, 4, (2, 3)).astype(float), generator.random(3)
        sides, free = rows @ point, np.array([-np.inf, -1.0, -1.0])
        milp = MILP(rows, row_lower=sides, row_upper=sides, lower=free, upper=-2 * free, integer=False)
        costs = 1e9 * (generator.normal(size=2) @ rows + np.array([0.0, 1.0, -1.0]) * generator.random(3))
        found = RelaxationMultipliers(milp, costs)(costs)
        assert found is not None
        assert costs[0] - rows[:, 0] @ found == pytest.approx(0.0, abs=1e-12 * np.abs(costs).max())
