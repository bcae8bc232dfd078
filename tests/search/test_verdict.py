from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from regretless import Dataset, Problem, SolutionCache
from regretless.search.scores import HeldOut
from regretless.search.verdict import Comparison, judge, scored_parts
from regretless.training.folds import make_folds

BASE = torch.arange(1.0, 101.0, dtype=torch.float64)
OPTIMA = torch.tensor([-75.0, 25.0] * 50, dtype=torch.float64)  # mean of the absolute values: 50
SAMPLE = math.sqrt(99 / 100)  # population deviation over sample deviation, of 100 values


def test_a_gain_on_every_instance_pays():
    verdict = judge(BASE, BASE - 0.5, OPTIMA)
    assert verdict.pays
    assert math.isclose(verdict.gain, 0.5)
    assert math.isclose(verdict.low, 0.5)
    assert math.isclose(verdict.high, 0.5)
    assert "pays here" in str(verdict)


def test_a_loss_does_not_pay():
    verdict = judge(BASE, BASE + 1.0, OPTIMA)
    assert not verdict.pays
    assert str(verdict).startswith("Decision-focused training does not pay here: held-out regret 51.5")


def test_a_gain_within_its_uncertainty_is_said_to_be_so():
    noise = torch.randn(100, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    verdict = judge(BASE, BASE - (noise - noise.mean()) - 0.15, OPTIMA)
    assert verdict.low < 0 < verdict.error < verdict.gain < verdict.high
    assert not verdict.pays
    assert "within its uncertainty" in str(verdict)


@pytest.mark.parametrize(
    ("gain", "error", "weight"),
    [
        (-1.0, 1.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.5, 1.0, 0.25),
        (2.0, 1.0, 1.0),
        (9.0, 1.0, 1.0),
        (1.0, 0.0, 1.0),
        (0.0, 0.0, 0.0),
    ],
)
def test_the_weight_of_the_model_grows_with_the_evidence_up_to_two_standard_errors(gain, error, weight):
    noise = SAMPLE * torch.tensor([-1.0, 1.0] * 50, dtype=torch.float64)  # sample deviation 1, standard error 0.1
    verdict = judge(BASE, BASE - 0.1 * gain - error * noise, OPTIMA)
    assert verdict.weight == pytest.approx(weight)


def test_without_any_score_two_stage_is_kept():
    nothing = torch.full((3,), torch.nan, dtype=torch.float64)
    assert judge(nothing, nothing, nothing).weight == 0.0


def test_the_interval_is_paired_and_covers_the_gain():
    generator = torch.Generator().manual_seed(1)
    covered = 0
    for seed in range(60):
        gains = 0.3 + torch.randn(80, generator=generator, dtype=torch.float64)
        verdict = judge(1000 * BASE[:80], 1000 * BASE[:80] - gains, BASE[:80], seed=seed)
        covered += verdict.low <= 0.3 <= verdict.high
    assert 50 <= covered <= 60


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    noise = torch.randn(100, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    first, again, other = (judge(BASE, BASE - noise, OPTIMA, seed=seed) for seed in (0, 0, 1))
    assert (first.low, first.high) == (again.low, again.high) != (other.low, other.high)


def test_instances_whose_solve_failed_for_either_model_are_left_out_of_every_figure():
    two_stage, model = BASE.clone(), BASE - torch.tensor([0.0, 2.0] * 50, dtype=torch.float64)
    two_stage[3], model[4] = torch.nan, torch.nan
    verdict = judge(two_stage, model, OPTIMA)
    a, b = (np.delete(regrets.numpy(), [3, 4]) for regrets in (two_stage, model))
    assert verdict.instances == 98
    assert (verdict.two_stage, verdict.model) == (pytest.approx(a.mean()), pytest.approx(b.mean()))
    assert verdict.gain == pytest.approx((a - b).mean())
    assert verdict.error == pytest.approx((a - b).std(ddof=1) / math.sqrt(98))
    # about two standard errors to each side
    assert verdict.low == pytest.approx(verdict.gain - 1.96 * verdict.error, abs=0.2 * verdict.error)
    assert verdict.high == pytest.approx(verdict.gain + 1.96 * verdict.error, abs=0.2 * verdict.error)


def test_a_verdict_without_instances_has_no_figures():
    nothing = torch.full((3,), torch.nan, dtype=torch.float64)
    verdict = judge(nothing, BASE[:3], BASE[:3])
    figures = verdict.two_stage, verdict.model, verdict.gain, verdict.error, verdict.low, verdict.high
    assert all(math.isnan(figure) for figure in figures)
    assert (verdict.instances, verdict.pays, verdict.clear) == (0, False, False)
    assert str(verdict).endswith("not known: no held-out instance was solved.")


@pytest.mark.parametrize(("gain", "clear"), [(-3.1, True), (-2.9, False), (2.9, False), (3.1, True)])
def test_a_difference_of_more_than_three_standard_errors_is_clear(gain, clear):
    noise = SAMPLE * torch.tensor([-1.0, 1.0] * 50, dtype=torch.float64)  # standard error 0.1
    assert judge(BASE, BASE - 0.1 * gain - noise, OPTIMA).clear is clear


def test_equal_models_do_not_pay_and_a_gain_without_any_error_has_full_weight():
    same, better = judge(BASE, BASE, OPTIMA), judge(BASE, BASE - 0.5, OPTIMA)
    assert (same.pays, same.weight, same.clear) == (False, 0.0, False)
    assert (better.error, better.weight, better.clear) == (0.0, 1.0, True)


def test_regrets_are_percentages_of_the_optima_of_the_same_instances():
    assert "regret 50 (100.00 %) against 50.5 (101.00 %) for" in str(judge(BASE, BASE - 0.5, OPTIMA))
    two_stage = BASE.clone()
    two_stage[OPTIMA < 0] = torch.nan
    assert judge(two_stage, BASE, OPTIMA).scale == 25.0


def test_a_percentage_is_left_out_where_all_optima_are_zero_and_is_not_rounded_to_zero():
    assert "regret 50 against 50.5 for" in str(judge(BASE, BASE - 0.5, 0 * OPTIMA))
    assert "regret 50 (0.0001 %) against" in str(judge(BASE, BASE - 0.5, 1e6 * OPTIMA))


def test_one_instance_has_a_gain_but_no_uncertainty_and_decides_nothing():
    verdict = judge(BASE[5:6], BASE[:1], OPTIMA[:1])
    assert (verdict.gain, verdict.instances, verdict.weight) == (5.0, 1, 0.0)
    assert all(math.isnan(figure) for figure in (verdict.error, verdict.low, verdict.high))
    assert (verdict.pays, verdict.clear) == (False, False)
    assert "is not known from one held-out instance" in str(verdict)


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
