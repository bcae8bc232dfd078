from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless import Problem
from regretless.errors import InputError
from regretless.problems import load
from regretless.problems.polynomial_costs import Formula
from regretless.problems.shortest_path import ShortestPathOracle, grid_edges, shortest_path_data, shortest_path_milp
from regretless.training import evaluate, fit
from regretless.training.methods import make_loss


def test_edges_stand_in_the_order_of_pyepo():
    right_then_down = [[0, 1], [1, 2], [0, 3], [1, 4], [2, 5], [3, 4], [4, 5]]
    assert grid_edges(2, 3).tolist() == right_then_down
    assert len(grid_edges(5, 5)) == 40
    assert grid_edges(3, 1).tolist() == [[0, 1], [1, 2]]


def test_paths_are_feasible_and_broken_ones_are_not():
    milp = shortest_path_milp(2, 2)  # edges 0-1, 0-2, 1-3, 2-3
    assert milp.check([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 0, 0]]).tolist() == [True, True, False, False]
    assert not np.any(milp.integer)


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (1, 1), (2, 2.5)])
def test_grids_without_edges_are_refused(rows, columns):
    with pytest.raises(InputError, match=r"at least 2 nodes|must be an integer"):
        grid_edges(rows, columns)


def all_paths(rows, columns):
    number = {tuple(edge): k for k, edge in enumerate(grid_edges(rows, columns).tolist())}
    for downs in combinations(range(rows + columns - 2), rows - 1):
        here, path = 0, np.zeros(len(number))
        for step in range(rows + columns - 2):
            there = here + (columns if step in downs else 1)
            path[number[here, there]], here = 1.0, there
        yield path


@given(st.integers(1, 5), st.integers(2, 5), st.integers(0, 10**6))
def test_no_path_is_shorter(rows, columns, seed):
    costs = torch.as_tensor(np.random.default_rng(seed).normal(size=(4, len(grid_edges(rows, columns)))))
    solution = ShortestPathOracle(rows, columns).solve(costs).solution
    lengths = costs @ torch.as_tensor(np.stack(list(all_paths(rows, columns)))).T
    torch.testing.assert_close((costs * solution).sum(1), lengths.min(1).values)
    assert shortest_path_milp(rows, columns).check(solution.numpy()).all()


def test_highs_agrees_on_a_larger_grid():
    costs = torch.as_tensor(np.random.default_rng(0).normal(size=(20, len(grid_edges(7, 9)))))
    oracle = Problem(shortest_path_milp(7, 9), oracle=ShortestPathOracle(7, 9))
    exact = Problem(shortest_path_milp(7, 9))
    torch.testing.assert_close(oracle.solve(costs).objective, exact.solve(costs).objective)


def test_a_batch_is_solved_as_its_instances_are():
    oracle, costs = ShortestPathOracle(4, 3), torch.rand(8, len(grid_edges(4, 3)))
    alone = torch.cat([oracle.solve(row[None]).solution for row in costs])
    assert torch.equal(oracle.solve(costs).solution, alone)
    assert oracle.solve(costs[:0]).solution.shape == (0, 17)


@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (4, 1)])
def test_a_line_has_one_path(rows, columns):
    assert ShortestPathOracle(rows, columns).solve(torch.ones(1, 3)).solution.tolist() == [[1.0, 1.0, 1.0]]


def test_costs_are_those_of_pyepo_for_the_same_seed():
    x, c = shortest_path_data(Formula(instances=2, features=3, deg=2, noise=0.5, seed=135), 2, 3)
    np.testing.assert_allclose(x[0], [-0.48401119, -0.90454894, 0.14889955], rtol=1e-6)
    want = [0.57078457, 0.7737162, 1.2710733, 1.1224368, 1.1329169, 1.2054418, 0.8896708]
    np.testing.assert_allclose(c[1], want, rtol=1e-6)
    assert c.dtype == np.float32


def test_standard_setting_is_the_5_by_5_grid_with_1000_instances_each():
    loaded = load("shortest-path")
    assert (loaded.train.costs.shape, loaded.test.features.shape) == ((1000, 40), (1000, 5))
    assert loaded.problem.sense == "min"


def test_engines_give_the_same_optimal_values():
    special, general = (load("shortest-path", train=20, test=1, engine=engine) for engine in ("oracle", "highs"))
    torch.testing.assert_close(
        (special.train.costs * special.train.solutions).sum(1), (general.train.costs * general.train.solutions).sum(1)
    )


def test_map_with_5_per_cent_of_the_solves_beats_two_stage_where_a_line_is_wrong():
    loaded = load("shortest-path", deg=6, noise=0.0, train=200, test=500)
    regret = {}
    for method in ("two-stage", "map-dc"):
        model = loaded.model(0)
        loss = make_loss(method, loaded.problem, loaded.train, seed=0)
        fit(model, loss, loaded.train, epochs=20, lr=0.01, batch_size=32, seed=0, progress=False)
        regret[method] = evaluate(model, loaded.test, loaded.problem).relative_regret
    assert regret["map-dc"] < 0.8 * regret["two-stage"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_costs_in_half_precision_have_the_paths_of_their_values(dtype):
    costs = torch.rand(4, len(grid_edges(3, 3)), generator=torch.Generator().manual_seed(0)).to(dtype)
    oracle = ShortestPathOracle(3, 3)
    assert torch.equal(oracle.solve(costs).solution, oracle.solve(costs.to(torch.float64)).solution)
