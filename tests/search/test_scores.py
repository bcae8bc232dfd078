from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from regretless import MILP, Dataset, Family, Problem, SolutionCache, metrics
from regretless.errors import RegretlessError, SolveError
from regretless.search.scores import HeldOut
from regretless.training.folds import make_folds
from regretless.training.models import make_model
from regretless.training.running_stack import stack_models
from regretless.training.stacked_models import Setting
from regretless.types import Status

PROBLEM = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=3)
X = torch.randn(12, 2, generator=torch.Generator().manual_seed(0))
DATA = Dataset.solve(PROBLEM, X, torch.randn(12, 3, generator=torch.Generator().manual_seed(1)))
FOLDS = make_folds(12, 3)


def held_out(rows=None):
    return HeldOut(SolutionCache(PROBLEM, DATA.solutions if rows is None else rows, p_solve=0.0), DATA, FOLDS)


def test_each_instance_is_predicted_by_the_copy_that_did_not_train_on_it():
    models = [make_model(X, 3, seed=seed) for seed in range(4)]
    stack = stack_models(models, X, DATA.costs, [Setting(0, 0.1)] * 2)
    predicted = held_out().predict(stack, stack.parameters)
    for f, part in enumerate(FOLDS):
        torch.testing.assert_close(predicted[0, part].float(), models[f](X[part]), rtol=1e-4, atol=1e-4)


def test_with_all_solutions_in_the_cache_look_ups_are_exact():
    predicted = torch.randn(12, 3, dtype=torch.float64)
    exact = metrics.regret(PROBLEM, predicted, DATA.costs, DATA.solutions)
    torch.testing.assert_close(held_out(torch.eye(3)).regrets(predicted), exact)


def test_exact_scores_solve_the_given_instances_and_their_solutions_join_the_cache():
    scores, rows, before = held_out(torch.eye(3)[:1]), torch.tensor([1, 2, 3, 7]), PROBLEM.statistics.solves
    predicted = -torch.eye(3, dtype=torch.float64).repeat(4, 1)
    regrets = scores.exact(predicted, rows)
    assert PROBLEM.statistics.solves - before == len(rows)
    expected = metrics.regret(PROBLEM, predicted[rows], DATA.costs[rows], DATA.solutions[rows])
    torch.testing.assert_close(regrets, expected)
    assert len(scores.cache) > 1


def test_no_prediction_is_solved_twice_for_an_instance():
    scores, costs = held_out(), DATA.costs.clone()
    first = scores.exact(costs, torch.tensor([1, 2]))
    before = PROBLEM.statistics.solves
    costs[2] = -costs[2]
    again = scores.exact(costs, torch.tensor([2, 1, 5]))
    assert PROBLEM.statistics.solves - before == 2
    assert first.tolist() == [0.0, 0.0]
    assert again[1:].tolist() == [0.0, 0.0]
    assert again[0] > 0


def test_members_of_a_family_are_scored_with_their_own_constraints_and_solutions():
    problem = Problem(Family([MILP([[1.0, 1.0, 1.0]], row_lower=k) for k in (1.0, 2.0)]))
    data = Dataset.solve(problem, X, DATA.costs.abs() + 0.1, instance=[0, 1] * 6)
    cache, rows = SolutionCache(problem, data.solutions, instance=data.instance, p_solve=0.0), torch.arange(1, 9)
    scores, predicted = HeldOut(cache, data, FOLDS), data.costs.flip(1)
    expected = metrics.regret(problem, predicted, data.costs, data.solutions, data.instance)
    torch.testing.assert_close(scores.exact(predicted, rows), expected[rows])
    assert not torch.equal(expected[rows], scores.regrets(data.costs)[rows])
    for member, decisions in enumerate((torch.eye(3), 1.0 - torch.eye(3))):
        cache.add(decisions, torch.full((3,), member))
    torch.testing.assert_close(scores.regrets(predicted), expected)


def test_solves_that_fail_have_no_regret_and_leave_the_cache_as_it_is():
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0 if c[0] < 9 else None, dimension=3, on_failure="skip")
    scores = HeldOut(SolutionCache(problem, DATA.solutions[:1], p_solve=0.0), DATA, FOLDS)
    predicted = torch.tensor([[10.0, 1.0, 2.0], [1.0, 2.0, 3.0]], dtype=torch.float64).repeat(6, 1)
    regrets = scores.exact(predicted, torch.arange(4))
    assert torch.isnan(regrets).tolist() == [True, False, True, False]
    assert torch.isfinite(scores.cache.solutions).all()


def test_an_error_names_the_training_instance():
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0 if c[0] < 9 else None, dimension=3)
    scores = HeldOut(SolutionCache(problem, DATA.solutions, p_solve=0.0), DATA, FOLDS)
    predicted = DATA.costs.clone()
    predicted[7, 0] = 10.0
    with pytest.raises(SolveError, match="instance 7 "):
        scores.exact(predicted, torch.tensor([5, 6, 7]))


def test_a_decision_may_be_better_than_a_label_only_where_the_label_was_not_proven_optimal():
    first = torch.eye(3, dtype=torch.float64)[:1].repeat(12, 1)
    costs = torch.tensor([[2.0, 1.0, 3.0]], dtype=torch.float64).repeat(12, 1)
    cut_short = Dataset(X, costs, first, status=[Status.TIME_LIMIT] * 12)
    for data in (cut_short, replace(cut_short, status=None)):
        scores = HeldOut(SolutionCache(PROBLEM, data.solutions, p_solve=0.0), data, FOLDS)
        if data is cut_short:
            assert scores.exact(costs, torch.arange(2)).tolist() == [-1.0, -1.0]
        else:
            with pytest.raises(RegretlessError):
                scores.exact(costs, torch.arange(2))


def test_predictions_that_are_not_finite_have_an_infinite_regret():
    one = DATA.costs.clone()
    one[3, 1] = torch.inf
    assert torch.isinf(held_out().regrets(one)).all()
    assert torch.isinf(held_out().regrets(torch.full((12, 3), torch.nan, dtype=torch.float64))).all()


def test_weights_of_instances_multiply_their_regrets_in_units_of_their_mean():
    weight = torch.arange(1.0, 13.0, dtype=torch.float64)
    predicted, rows = -DATA.costs, torch.arange(12)
    plain, cache = held_out(torch.eye(3)), SolutionCache(PROBLEM, torch.eye(3), p_solve=0.0)
    counted = HeldOut(cache, replace(DATA, weight=weight), FOLDS)
    repeated = plain.exact(predicted, rows).repeat_interleave(weight.to(torch.int64))
    for found in (counted.regrets(predicted), counted.exact(predicted, rows)):
        torch.testing.assert_close(found, weight / weight.mean() * plain.regrets(predicted))
        assert float(found.mean()) == pytest.approx(float(repeated.mean()))
