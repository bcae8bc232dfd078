from __future__ import annotations

import pytest
import torch

from regretless.cache.heads import solve_heads
from regretless.errors import SolveError

from .recorders import LIMITS, POINTS, WEIGHTS, Recorder, draw, exact, family, problem

POSITIONS = torch.tensor([3, 0])


def test_every_head_is_solved_at_each_of_its_costs_and_nothing_else_is():
    recorder, first, second = Recorder(), draw(5, 4, seed=1), draw(5, 4, seed=2)
    solves = solve_heads(problem(recorder), [first, second], POSITIONS, None, None)
    heads = solves.heads()
    assert torch.equal(torch.cat(recorder.costs), torch.cat([first[POSITIONS], second[POSITIONS]]))
    assert torch.equal(heads.positions, POSITIONS)
    for found, costs in zip(heads.solutions, (first, second), strict=True):
        assert torch.equal(found.float(), exact(costs[POSITIONS]))
    growth = solves.growth(asked=5)
    assert (growth.asked, growth.solves, growth.failed, len(growth.rows)) == (5, 4, 0, 4)


def test_ids_go_with_their_heads():
    ids = torch.tensor([0, 1, 2, 1, 0])
    solves = solve_heads(family(), [draw(5, 4) - 1.0] * 2, POSITIONS, ids, None)
    assert solves.ids.tolist() == [1, 0, 1, 0]
    weight = solves.solved.solution @ torch.tensor(WEIGHTS, dtype=torch.float64)
    assert (weight <= torch.tensor(LIMITS)[solves.ids]).all()


def test_a_head_with_one_failed_solve_has_failed_and_grows_s_by_the_others_only():
    first, second = draw(5, 4, seed=1), draw(5, 4, seed=2)
    second[3, 0] = 200.0
    failing = problem(Recorder(fails=lambda row: row[0] > 100), on_failure="skip")
    solves = solve_heads(failing, [first, second], POSITIONS, None, None)
    assert solves.failed.tolist() == [False, False, True, False]
    assert solves.heads().failed.tolist() == [True, False]
    assert solves.heads().failed_positions.tolist() == [3]
    growth = solves.growth(asked=2)
    assert (growth.solves, growth.failed) == (4, 1)
    assert torch.isfinite(growth.rows).all()
    with pytest.raises(SolveError, match=r"instance 3 of the batch: error.*fails by design"):
        solves.refuse_failures()


def test_without_a_failure_nothing_has_failed():
    solves = solve_heads(problem(Recorder()), [draw(5, 4)], POSITIONS, None, None)
    assert solves.failed is None
    assert solves.heads().failed_positions is None
    assert all(row in POINTS.tolist() for row in solves.growth(asked=5).rows.tolist())
