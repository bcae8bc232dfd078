from __future__ import annotations

import math

import pytest
import torch

from regretless.search.verdict import judge

BASE = torch.arange(1.0, 101.0, dtype=torch.float64)


def test_a_gain_on_every_instance_pays():
    verdict = judge(BASE, BASE - 0.5, scale=50.0)
    assert verdict.pays
    assert math.isclose(verdict.gain, 0.5)
    assert math.isclose(verdict.low, 0.5)
    assert math.isclose(verdict.high, 0.5)
    assert "pays here" in str(verdict)


def test_a_loss_does_not_pay():
    verdict = judge(BASE, BASE + 1.0, scale=50.0)
    assert not verdict.pays
    assert str(verdict).startswith("Decision-focused training does not pay here: held-out regret 51.5")


def test_a_gain_within_its_uncertainty_is_said_to_be_so():
    noise = torch.randn(100, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    verdict = judge(BASE, BASE - (noise - noise.mean()) - 0.15, scale=50.0)
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
    noise = torch.tensor([-1.0, 1.0] * 50, dtype=torch.float64)  # standard deviation 1, standard error 0.1
    verdict = judge(BASE, BASE - 0.1 * gain - error * noise, scale=50.0)
    assert verdict.weight == pytest.approx(weight)


def test_without_any_score_two_stage_is_kept():
    nothing = torch.full((3,), torch.nan, dtype=torch.float64)
    assert judge(nothing, nothing, scale=1.0).weight == 0.0


def test_the_interval_is_paired_and_covers_the_gain():
    generator = torch.Generator().manual_seed(1)
    covered = 0
    for seed in range(60):
        gains = 0.3 + torch.randn(80, generator=generator, dtype=torch.float64)
        verdict = judge(1000 * BASE[:80], 1000 * BASE[:80] - gains, scale=1.0, seed=seed)
        covered += verdict.low <= 0.3 <= verdict.high
    assert 50 <= covered <= 60


def test_instances_whose_solve_failed_are_left_out():
    regrets = BASE.clone()
    regrets[3] = torch.nan
    assert judge(BASE, regrets, scale=1.0).instances == 99
