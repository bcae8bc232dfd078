from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.losses.normal_cones import NormalCones
from regretless.milp import MILP
from regretless.problems.shortest_path.formulation import shortest_path_milp
from regretless.problems.shortest_path.oracle import ShortestPathOracle

MODELS = {
    "path": shortest_path_milp(3, 3),
    "knapsack": MILP([[3.0, 4.0, 5.0, 2.0]], row_upper=7.0),
    "rows to both sides": MILP([[1.0, 1.0, 0.0], [0.0, 1.0, -1.0]], row_lower=[1.0, -1.0], row_upper=[1.5, 0.0]),
    "fixed": MILP([[1.0, 2.0, 1.0]], row_upper=2.0, lower=[0, 1, 0], upper=[1, 1, 1]),
}


def decisions(milp):
    grid = np.array(np.meshgrid(*[[0.0, 1.0]] * milp.n)).reshape(milp.n, -1).T
    return grid[milp.check(grid)]


@pytest.mark.parametrize("name", MODELS)
def test_a_projection_is_the_nearest_point_of_the_cone(name):
    milp = MODELS[name]
    cones, rng = NormalCones(milp), np.random.default_rng(0)
    for x in decisions(milp)[:4]:
        normals = cones.normals(x)
        for y in rng.normal(size=(5, milp.n)):
            p = cones.project(y, normals)
            # The conditions of a projection on a cone: the rest is orthogonal to it and leads away from every normal.
            assert (y - p) @ p == pytest.approx(0.0, abs=1e-9)
            assert (normals @ (y - p) <= 1e-9).all()
            assert np.allclose(cones.project(p, normals), p)


@pytest.mark.parametrize("name", MODELS)
def test_costs_in_the_cone_make_the_decision_an_optimum(name):
    milp = MODELS[name]
    cones, rng, points = NormalCones(milp), np.random.default_rng(1), decisions(milp)
    for x in points[:4]:
        for y in rng.normal(size=(5, milp.n)):
            for inner in (0.0, 0.3):
                costs = -cones.inside(y, x, inner)
                assert costs @ x <= (points @ costs).min() + 1e-9


def test_the_optimum_of_a_linear_program_has_its_costs_in_the_cone():
    milp = MODELS["path"]
    cones, costs = NormalCones(milp), np.random.default_rng(2).random((20, milp.n))
    for c, x in zip(costs, ShortestPathOracle(3, 3).solve(torch.as_tensor(costs)).solution.numpy(), strict=True):
        assert np.allclose(cones.project(-c, cones.normals(x)), -c)


def test_equalities_in_small_units_belong_to_the_subspace_too():
    milp = MILP([[1e6, 1e6, 0.0], [0.0, 0.01, 0.01]], row_lower=[1e6, 0.01], row_upper=[1e6, 0.01])
    cones, x = NormalCones(milp), np.array([0.0, 1.0, 0.0])
    for y in ([1.0, 1.0, 0.0], [0.0, -1.0, -1.0]):
        assert np.allclose(cones.project(np.array(y), cones.normals(x)), y)
