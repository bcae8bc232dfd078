from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from regretless import Problem
from regretless.problems.facility_location import facility_milp


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_the_best_over_all_open_sets(seed):
    rng = np.random.default_rng(seed)
    demands, capacities, opening = rng.random(5), np.full(3, 1.6), rng.random(3) * 2
    costs = rng.random((5, 3))
    best = np.inf
    for is_open in product([0.0, 1.0], repeat=3):
        # A transport problem between what is open and all customers.
        found = linprog(
            costs.ravel(),
            A_ub=np.kron(demands[None], np.eye(3)),
            b_ub=capacities * is_open,
            A_eq=np.kron(np.eye(5), np.ones((1, 3))),
            b_eq=np.ones(5),
            bounds=[(0, 1)] * 15,
        )
        if found.status == 0:
            best = min(best, found.fun + opening @ is_open)
    decided = Problem(facility_milp(demands, capacities, opening)).solve(costs.reshape(1, -1))
    assert decided.objective.item() == pytest.approx(best)
    assert decided.solution.shape == (1, 16)  # the last coordinate is the known cost of opening
    is_open = decided.decision[0, -3:].numpy()
    assert decided.solution[0, -1].item() == pytest.approx(is_open @ opening)
