from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from regretless.search.verdict import judge

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
