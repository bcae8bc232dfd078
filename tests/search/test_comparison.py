from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from regretless import Dataset, Problem, SolutionCache
from regretless.search.comparison import Comparison, scored_parts
from regretless.search.scores import HeldOut
from regretless.search.verdict import judge
from regretless.training.folds import make_folds

N = 400


def held_out(shift: float = 0.0) -> tuple[HeldOut, Problem]:
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=3)
    costs = torch.rand(N, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64) - shift
    data = Dataset.solve(problem, torch.zeros(N, 1), costs)
    return HeldOut(SolutionCache(problem, data.solutions, p_solve=0.0), data, make_folds(N, 5)), problem


def wrong_on(data: Dataset, rows: range) -> torch.Tensor:
    """Predictions that choose the worst entry for some instances and the best one for the others."""
    predicted = data.costs.clone()
    predicted[list(rows)] = -predicted[list(rows)]
    return predicted


@pytest.mark.parametrize(
    ("n", "sizes"), [(10, [10]), (60, [50, 10]), (120, [50, 10, 60]), (400, [100, 100, 200]), (552, [138, 138, 276])]
)
def test_parts_are_disjoint_and_cover_all_instances(n: int, sizes: list[int]) -> None:
    parts = scored_parts(n, seed=0)
    assert [len(part) for part in parts] == sizes
    assert torch.equal(torch.cat(parts).sort().values, torch.arange(n))
    assert not torch.equal(torch.cat(parts), torch.cat(scored_parts(n, seed=1))) or len(sizes) == 1


@pytest.mark.parametrize(("most", "sizes"), [(0.0, [50]), (0.25, [100]), (0.4, [100, 60]), (1.0, [100, 100, 200])])
def test_no_more_than_a_share_is_scored(most: float, sizes: list[int]) -> None:
    parts = scored_parts(N, 0, most)
    assert [len(part) for part in parts] == sizes
    assert torch.equal(parts[0], scored_parts(N, 0)[0]) or most == 0


def test_a_clear_difference_takes_two_solves_for_a_quarter_of_the_instances() -> None:
    scores, problem = held_out()
    before = problem.statistics.solves
    comparison = Comparison(scores, wrong_on(scores.data, range(N)), seed=0)
    verdict = comparison.verdict(scores.data.costs)
    assert (verdict.instances, problem.statistics.solves - before) == (N // 4, 2 * (N // 4))
    assert verdict.pays


def test_a_difference_that_stays_in_doubt_takes_all_instances() -> None:
    scores, problem = held_out()
    before = problem.statistics.solves
    # Each is wrong on as many instances as the other.
    comparison = Comparison(scores, wrong_on(scores.data, range(0, N, 2)), seed=0)
    verdict = comparison.verdict(wrong_on(scores.data, range(1, N, 2)))
    assert (verdict.instances, problem.statistics.solves - before) == (N, 2 * N)
    assert not verdict.pays


def test_a_second_verdict_does_not_solve_for_two_stage_again() -> None:
    scores, problem = held_out()
    comparison = Comparison(scores, wrong_on(scores.data, range(0, N, 2)), seed=0)
    assert comparison.verdict(wrong_on(scores.data, range(1, N, 2))).instances == N
    before = problem.statistics.solves
    assert comparison.verdict(2 * scores.data.costs).instances == problem.statistics.solves - before == N // 4


def test_the_verdict_is_that_of_all_solved_instances_together() -> None:
    scores, _ = held_out()
    predictions = wrong_on(scores.data, range(0, N, 2)), wrong_on(scores.data, range(1, N, 2))
    verdict = Comparison(scores, predictions[0], seed=3).verdict(predictions[1])
    order = torch.cat(scored_parts(N, seed=3))
    two_stage, model = (scores.exact(predicted, order) for predicted in predictions)
    assert verdict == judge(two_stage, model, scores.data.costs[order].min(dim=1).values, seed=3)


def test_the_scale_is_the_mean_absolute_objective_of_the_true_optima_of_the_solved_instances() -> None:
    scores, _ = held_out(shift=0.2)
    verdict = Comparison(scores, wrong_on(scores.data, range(N)), seed=0).verdict(scores.data.costs)
    optima = scores.data.costs[scored_parts(N, seed=0)[0]].min(dim=1).values
    assert verdict.instances == len(optima)
    assert (optima < 0).any()
    assert (optima > 0).any()
    assert verdict.scale == pytest.approx(float(optima.abs().mean()))


def test_figures_of_a_verdict_are_weighted_means() -> None:
    scores, problem = held_out()
    weight = (torch.arange(N, dtype=torch.float64) % 3) + 1.0
    data = replace(scores.data, weight=weight)
    counted = HeldOut(SolutionCache(problem, data.solutions, p_solve=0.0), data, make_folds(N, 5))
    wrong = wrong_on(data, range(0, N, 3))  # each of weight 1, a sixth of all weight
    found, plain = (Comparison(one, wrong, seed=0).verdict(data.costs) for one in (counted, scores))
    assert found.two_stage == pytest.approx(0.5 * plain.two_stage, rel=0.2)
    assert found.scale == pytest.approx(plain.scale, rel=0.2)
    assert found.model == 0.0
