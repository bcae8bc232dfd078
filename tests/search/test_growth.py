from __future__ import annotations

import pytest
import torch

from regretless import MILP, Dataset, Family, Problem, SolutionCache
from regretless.errors import SolveError
from regretless.search.growth import LeaderGrowth
from regretless.search.scores import HeldOut
from regretless.training.folds import make_folds
from regretless.training.models import make_model
from regretless.training.running_stack import stack_models
from regretless.training.stacked_models import Setting


def setting(solves=2.0, fails=lambda c: False, on_failure="raise", **more):
    seen = []

    def cheapest(c):
        seen.append(c.tolist())
        return None if fails(c) else (c == c.min()) * 1.0

    problem = Problem(oracle=cheapest, dimension=3, on_failure=on_failure)
    x = torch.randn(12, 2, generator=torch.Generator().manual_seed(0))
    costs = torch.randn(12, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    data = Dataset(x, costs, torch.eye(3, dtype=torch.float64)[costs.argmin(dim=1)])
    cache = SolutionCache(problem, [[1.0, 0.0, 0.0]], p_solve=0.0)
    held_out = HeldOut(cache, data, make_folds(12, 3))
    return LeaderGrowth(cache, held_out, None, solves=solves, seed=0, **more), data, seen


PREDICTED = torch.randn(2, 8, 5, 3, generator=torch.Generator().manual_seed(2))
INDEX, VALID = torch.zeros(2, 5, dtype=torch.int64), torch.ones(2, 5, dtype=torch.bool)


def copies(data, models):
    return stack_models(models, data.features, data.costs, [Setting(0, 0.1)] * 8)


def test_solutions_at_predictions_join_the_shared_cache_and_are_counted():
    growth, _, seen = setting()
    for _ in range(10):
        growth.on_step(PREDICTED, INDEX, VALID)
    assert len(growth.cache) == 3
    assert growth.solved == len(seen) > 5


@pytest.mark.parametrize(("per_step", "steps", "solves"), [(0.1, 30, 3), (1 / 3, 30, 10), (2.5, 3, 7), (0.0, 9, 0)])
def test_the_budget_is_spent_to_the_last_solve_and_no_further(per_step, steps, solves):
    growth, _, seen = setting(solves=per_step)
    limited, _, few = setting(solves=per_step, max_solves=2)
    for _ in range(steps):
        growth.on_step(PREDICTED, INDEX, VALID)
        limited.on_step(PREDICTED, INDEX, VALID)
    assert growth.solved == len(seen) == solves
    assert limited.solved == len(few) == min(2, solves)


def test_after_an_epoch_only_leaders_are_solved_for():
    growth, data, seen = setting(solves=5.0)
    models = copies(data, [make_model(data.features, 3, seed=s) for s in range(4)])
    growth.on_epoch(1, models, torch.zeros(4, 8, dtype=torch.bool))
    assert len(growth.leaders) == 5
    growth.leaders = [2]
    for _ in range(5):
        growth.on_step(PREDICTED, INDEX, VALID)
    allowed = PREDICTED[:, 2].reshape(-1, 3).double()
    assert len(seen) == 25
    assert all((allowed == torch.tensor(row, dtype=torch.float64)).all(dim=1).any() for row in seen)


def test_a_setting_that_diverged_never_leads():
    growth, data, _ = setting()
    models = stack_models([make_model(data.features, 3)] * 4, data.features, data.costs, [Setting(0, 0.1)] * 6)
    diverged = torch.zeros(4, 6, dtype=torch.bool)
    diverged[1, [0, 3]] = True
    growth.on_epoch(1, models, diverged)
    assert set(growth.leaders) == {1, 2, 4, 5}


def test_a_solve_that_fails_is_an_error_that_names_the_training_instance_or_is_left_out():
    index = torch.full((2, 5), 7)
    growth, _, _ = setting(fails=lambda c: True)
    with pytest.raises(SolveError, match="no solution for instance 7"):
        growth.on_step(PREDICTED, index, VALID)
    growth, _, seen = setting(solves=20.0, fails=lambda c: c.argmin() == 1, on_failure="skip")
    growth.on_step(PREDICTED, index, VALID)
    assert len(seen) == 20
    assert growth.cache.solutions.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def test_solutions_serve_the_member_of_the_family_that_they_were_found_for():
    members = [MILP([[1.0] * 3], row_lower=k, row_upper=k) for k in (9.0, 1.0, 2.0)]  # the first has no solution
    problem = Problem(Family(members), on_failure="skip")
    cache = SolutionCache(problem, [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]], instance=[1, 2], p_solve=0.0)
    instances = torch.tensor([0, 1, 2, 0, 1])
    growth = LeaderGrowth(cache, setting()[0].held_out, instances, solves=60.0, seed=0)
    growth.on_step(PREDICTED, torch.arange(5).expand(2, 5), VALID)
    costs = torch.cat([torch.eye(3), -torch.eye(3)]).double()
    for member in (1, 2):
        ids = torch.full((6,), member)
        (found,) = cache.look_up([costs], ids)
        assert torch.equal((found * costs).sum(dim=1), (problem.attempt(costs, ids).solution * costs).sum(dim=1))


def test_a_saved_state_continues_with_the_same_choices_counts_and_time():
    how = {"solves": 1.6, "max_solves": 8, "time_limit": 60.0}
    growth, data, solved = setting(**how)
    models, finite = copies(data, [make_model(data.features, 3)] * 4), torch.zeros(4, 8, dtype=torch.bool)
    growth.leaders, growth.seconds = [2, 5], 59.9999
    growth.on_step(PREDICTED, INDEX, VALID)
    growth.on_epoch(1, models, finite)
    growth.leaders, growth.seconds = [2, 5], 60.0
    resumed, _, solved_again = setting(**how)
    resumed.cache.load_state_dict(growth.cache.state_dict())
    resumed.load_state_dict(growth.state_dict())
    assert resumed.why_stop() == growth.why_stop() == "the time limit of 60 s is reached"
    del solved[:]
    for one in (growth, resumed):
        for _ in range(5):
            one.on_step(PREDICTED, INDEX, VALID)
        with one.cache.problem.counted_as("scoring"):  # no solve of the growth
            one.cache.problem.solve(data.costs[:1])
        one.on_epoch(2, models, finite)
        assert one.seconds == pytest.approx(60.0 + one.rows[1]["seconds"])
    assert solved_again == solved
    assert growth.rows[1]["solves"] == len(solved) - 1 == 7
    for name in ("epoch", "regret", "solves", "lookups", "cache_size"):
        assert [row[name] for row in resumed.rows] == [row[name] for row in growth.rows]


@pytest.mark.parametrize("rows", [[5], [{}], [{"solves": "many"}], 3])
def test_a_state_with_rows_that_are_no_history_is_refused(rows):
    growth, _, _ = setting()
    with pytest.raises((TypeError, KeyError, ValueError)):  # the checkpoint names the file
        growth.load_state_dict(growth.state_dict() | {"rows": rows})
