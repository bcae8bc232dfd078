from __future__ import annotations

import itertools

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses import LAVA
from regretless.losses.lava import neighbors
from regretless.problems import load
from regretless.problems.shortest_path import grid_edges

from .tiny import KINDS, batch, cache


def all_paths(rows: int, columns: int) -> torch.Tensor:
    number = {tuple(edge): i for i, edge in enumerate(grid_edges(rows, columns).tolist())}
    paths = []
    for downs in itertools.combinations(range(rows + columns - 2), rows - 1):
        path, node = torch.zeros(len(number), dtype=torch.float64), 0
        for step in range(rows + columns - 2):
            following = node + (columns if step in downs else 1)
            path[number[node, following]] = 1.0
            node = following
        paths.append(path)
    return torch.stack(paths)


def one_cycle(a, b, rows, columns) -> bool:
    """Whether the edges that only one of two paths uses form one cycle."""
    edges = [tuple(edge) for edge in grid_edges(rows, columns)[(a != b).numpy()].tolist()]
    group = {node: node for edge in edges for node in edge}

    def root(node):
        return node if group[node] == node else root(group[node])

    for s, t in edges:
        group[root(s)] = root(t)
    degrees = [sum(node in edge for edge in edges) for node in group]
    return len({root(node) for node in group}) == 1 and set(degrees) == {2}


def test_neighbors_of_a_path_are_the_paths_that_differ_by_one_cycle():
    paths = all_paths(4, 4)
    found, mask = neighbors(paths, paths, None, len(paths))
    assert int(mask.sum()) < 20 * 19  # not all are neighbors
    for i, path in enumerate(paths):
        mine = {tuple(row) for row in found[i][mask[i]].tolist()}
        assert mine == {tuple(other.tolist()) for other in paths if one_cycle(path, other, 4, 4)}


def test_of_members_that_are_equal_up_to_rounding_one_is_a_neighbor():
    members = torch.tensor([[1.0, 0.0], [1.0 + 1e-12, 0.0], [0.0, 1.0]], dtype=torch.float64)
    found, mask = neighbors(members, torch.zeros(1, 2, dtype=torch.float64), None, 3)
    assert sorted(found[mask].round(decimals=9).tolist()) == [[0.0, 1.0], [1.0, 0.0]]


def test_a_path_that_is_better_than_its_neighbors_is_optimal():
    paths = all_paths(4, 4)
    costs = torch.randn(300, paths.shape[1], generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found, mask = neighbors(paths, paths, None, len(paths))
    values = costs @ paths.T
    worse = torch.einsum("sw,pkw->spk", costs, found) >= values[:, :, None]
    locally = (worse | ~mask).all(dim=2)
    assert torch.equal(locally, values == values.min(dim=1, keepdim=True).values)


def test_fewer_candidates_leave_out_only_what_is_farther_away():
    paths = all_paths(4, 4)
    found, mask = neighbors(paths, paths, None, 100)
    few, few_mask = neighbors(paths, paths, None, 6)
    for i in range(len(paths)):
        near = {tuple(row) for row in few[i].tolist()}
        expected = {tuple(row) for row in found[i][mask[i]].tolist()} & near
        assert {tuple(row) for row in few[i][few_mask[i]].tolist()} == expected


@pytest.mark.parametrize("constant", [1e6, 1e9])
def test_a_constant_of_the_objective_does_not_hide_neighbors(constant):
    cube = torch.tensor(list(itertools.product([0.0, 1.0], repeat=4)))
    found, mask = neighbors(cube, cube, None, len(cube))
    shifted = torch.cat([cube, torch.full((len(cube), 1), constant)], dim=1)
    also, also_mask = neighbors(shifted, shifted, None, len(cube))
    assert int(mask.sum()) == 16 * 4  # each differs in one coordinate
    assert [set(map(tuple, a[m].tolist())) for a, m in zip(found, mask, strict=True)] == [
        set(map(tuple, a[m, :4].tolist())) for a, m in zip(also, also_mask, strict=True)
    ]


def test_with_p_0_training_never_solves_and_the_margin_ends_the_gradient():
    loaded = load("shortest-path", rows=3, columns=3, train=30, test=1)
    train, before = loaded.train, loaded.problem.statistics.solves
    oracle = SolutionCache(loaded.problem, train.solutions, p_solve=0.0)
    value, gradient = LAVA(oracle).loss_and_gradient(100 * train.costs, train.costs, train.solutions)
    assert loaded.problem.statistics.solves == before
    assert float(value) < 0
    assert (gradient == 0).all(dim=1).float().mean() > 0.8  # those whose optimum is clear


def test_settings_that_make_no_sense_are_named():
    kind = KINDS["plain"]
    oracle = cache(kind.problem(), batch(kind))
    with pytest.raises(InputError, match="LAVA needs a SolutionCache"):
        LAVA(kind.problem())
    with pytest.raises(InputError, match="margin must be a finite number, at least 0, got -1"):
        LAVA(oracle, margin=-1.0)
    with pytest.raises(InputError, match="candidates must be an integer, at least 1, got 0"):
        LAVA(oracle, candidates=0)
