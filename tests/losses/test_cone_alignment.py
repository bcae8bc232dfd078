from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.errors import InputError
from regretless.losses import ConeAlignment
from regretless.losses.cone_alignment import NormalCones
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems import load
from regretless.problems.shortest_path import ShortestPathOracle, shortest_path_milp

from .tiny import KINDS

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


@pytest.fixture(scope="module")
def path():
    return load("shortest-path", rows=3, columns=3, train=20, test=1)


def test_at_the_true_costs_the_angle_to_the_cone_is_zero(path):
    train = path.train
    values = ConeAlignment(path.problem, inner=0.0, reduction="none")(train.costs, train.costs, train.solutions)
    assert torch.allclose(values, torch.zeros(len(train)).double(), atol=1e-9)


def test_the_loss_is_one_minus_the_length_of_the_projection_and_independent_of_the_scale(path):
    train = path.train
    predicted = train.costs + torch.randn(train.costs.shape, generator=torch.Generator().manual_seed(0))
    loss = ConeAlignment(path.problem, inner=0.0, reduction="none")
    values = loss(predicted, train.costs, train.solutions)
    assert ((values >= -1e-9) & (values <= 1)).all()
    assert values.max() > 0.01
    for scale in (7.0, 1e-9, 1e9):
        assert torch.allclose(values, loss(scale * predicted, train.costs, train.solutions))


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
def test_rows_that_are_tight_up_to_rounding_are_tight_in_any_units(precision):
    # Both rows are tight at the optimum, whose entries single precision rounds down.
    rows = np.array([[3.0, 7.0, 2.0], [5.0, 1.0, 9.0]]) * [[1e5], [0.01]]
    problem = Problem(MILP(rows, row_upper=[1e8, 9.0], upper=1000.0, integer=False))
    costs = torch.tensor([[-2.0, -5.0, -4.0]])
    loss = ConeAlignment(problem, inner=0.0)(costs.to(precision), costs, problem.solve(costs).solution)
    assert loss.item() == pytest.approx(0.0, abs=1e-6)


def test_costs_that_are_not_finite_are_named(path):
    train = path.train
    predicted = train.costs.clone()
    predicted[3, 1] = torch.nan
    with pytest.raises(InputError, match="costs must be finite, got nan at row 3, column 1"):
        ConeAlignment(path.problem)(predicted, train.costs, train.solutions)


def test_steps_along_the_gradient_with_a_share_of_the_mean_normal_end_inside_of_the_cone(path):
    train = path.train
    predicted = train.costs.flip(0).clone()
    loss = ConeAlignment(path.problem, inner=0.2, reduction="sum")
    for _ in range(200):
        _, gradient = loss.loss_and_gradient(predicted, train.costs, train.solutions)
        predicted -= 0.05 * gradient * predicted.norm(dim=1, keepdim=True) ** 2
    chosen = path.problem.solve(predicted).solution
    assert torch.equal(chosen, train.solutions)


def test_training_calls_no_solver(path):
    before = path.problem.statistics.solves
    ConeAlignment(path.problem)(path.train.costs, path.train.costs, path.train.solutions)
    assert path.problem.statistics.solves == before


def test_a_problem_without_a_model_or_with_a_cost_map_is_refused():
    for problem in (Problem(oracle=lambda c: c, dimension=2), KINDS["mapped"].problem()):
        with pytest.raises(InputError, match="needs a problem with a MILP whose costs belong to its variables"):
            ConeAlignment(problem)
    with pytest.raises(InputError, match="inner must be at least 0 and below 1, got 1"):
        ConeAlignment(KINDS["plain"].problem(), inner=1.0)


def test_an_inner_share_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="inner must be between 0 and 1, got 'a'"):
        ConeAlignment(Problem(MILP([[1.0, 1.0]])), inner="a")
