from __future__ import annotations

import pytest
import torch

from regretless import Dataset, Problem, SolutionCache
from regretless.search.growth import LeaderGrowth
from regretless.search.scores import HeldOut
from regretless.training.folds import make_folds
from regretless.training.models import make_model
from regretless.training.stacked_models import Setting
from regretless.training.stacking import stack_models


def setting(solves=2.0, **more):
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=3)
    x = torch.randn(12, 2, generator=torch.Generator().manual_seed(0))
    data = Dataset.solve(problem, x, torch.randn(12, 3, generator=torch.Generator().manual_seed(1)))
    cache = SolutionCache(problem, [[1.0, 0.0, 0.0]], p_solve=0.0)
    held_out = HeldOut(cache, data, make_folds(12, 3))
    return LeaderGrowth(cache, held_out, None, solves=solves, seed=0, **more), data, problem


PREDICTED = torch.randn(2, 8, 5, 3, generator=torch.Generator().manual_seed(2))
INDEX, VALID = torch.zeros(2, 5, dtype=torch.int64), torch.ones(2, 5, dtype=torch.bool)


def test_solutions_at_predictions_join_the_shared_cache_and_are_counted():
    growth, _, problem = setting()
    before = problem.statistics.solves
    for _ in range(10):
        growth.on_step(PREDICTED, INDEX, VALID)
    assert len(growth.cache) == 3
    assert growth.solved == problem.statistics.solves - before > 5


@pytest.mark.parametrize(("per_step", "steps", "solves"), [(0.1, 30, 3), (1 / 3, 30, 10), (2.5, 3, 7), (0.0, 9, 0)])
def test_the_budget_is_spent_to_the_last_solve_and_no_further(per_step, steps, solves):
    growth, _, _ = setting(solves=per_step)
    for _ in range(steps):
        growth.on_step(PREDICTED, INDEX, VALID)
    assert growth.solved == solves


def test_after_an_epoch_only_leaders_are_solved_for():
    growth, data, problem = setting(solves=5.0)
    models = stack_models(
        [make_model(data.features, 3, seed=s) for s in range(4)], data.features, data.costs, [Setting(0, 0.1)] * 8
    )
    growth.on_epoch(1, models, torch.zeros(4, 8, dtype=torch.bool))
    assert len(growth.leaders) == 5
    growth.leaders = [2]
    seen = []
    problem.backend.solve, solve = (
        (lambda costs, *a, **k: (seen.append(costs), solve(costs, *a, **k))[1]),
        problem.backend.solve,
    )
    for _ in range(5):
        growth.on_step(PREDICTED, INDEX, VALID)
    allowed = PREDICTED[:, 2].reshape(-1, 3)
    assert seen
    assert all((allowed == row).all(dim=1).any() for costs in seen for row in costs)


def test_a_setting_that_diverged_never_leads():
    growth, data, _ = setting()
    models = stack_models([make_model(data.features, 3)] * 4, data.features, data.costs, [Setting(0, 0.1)] * 6)
    diverged = torch.zeros(4, 6, dtype=torch.bool)
    diverged[1, [0, 3]] = True
    growth.on_epoch(1, models, diverged)
    assert set(growth.leaders) == {1, 2, 4, 5}


@pytest.mark.parametrize("rows", [[5], [{}], [{"solves": "many"}], 3])
def test_a_state_with_rows_that_are_no_history_is_refused(rows):
    growth, _, _ = setting()
    with pytest.raises((TypeError, KeyError, ValueError)):  # the checkpoint names the file
        growth.load_state_dict(growth.state_dict() | {"rows": rows})
