from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless import Problem
from regretless.problems.shortest_path import ShortestPathOracle, grid_edges, shortest_path_milp


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
