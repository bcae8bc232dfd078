from __future__ import annotations

import math

import pytest
import torch

from regretless.errors import InputError
from regretless.losses import PerturbedOptimizer
from regretless.losses.task_loss import task_loss
from regretless.problem import Problem

from .tiny import KINDS, batch, best, cache, members, value_and_gradient

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.parametrize("noise", ["additive", "multiplicative"])
@pytest.mark.parametrize("task", ["regret", "squared", "absolute"])
@EVERY_KIND
def test_value_and_gradient_are_those_of_the_estimator_by_definition(kind, noise, task):
    kind = KINDS[kind]
    b = batch(kind, seed=1)
    settings = {"sigma": 0.5, "samples": 5, "noise": noise, "task": task, "seed": 3, "reduction": "none"}
    loss = PerturbedOptimizer(cache(kind.problem(), b), **settings)
    values, gradient = value_and_gradient(loss, b)
    p, c = kind.to_minimization(b.predicted), kind.to_minimization(b.true)
    perturbed = PerturbedOptimizer(kind.problem(), **settings).perturb(p)
    d = kind.problem().dimension
    for i in range(len(values)):
        solutions = torch.stack([best(members(kind, b, i), costs) for costs in perturbed.costs[:, i]])
        value, slope = task_loss(task, solutions.mean(0)[None], c[i : i + 1], b.solution[i : i + 1], dimension=d)
        reward = solutions @ slope[0]
        expected = ((reward - reward.mean())[:, None] * perturbed.z[:, i]).sum(0) / (4 * 0.5)
        if noise == "multiplicative":
            expected = expected / p[i]
        torch.testing.assert_close(values[i], value[0])
        torch.testing.assert_close(gradient[i], expected[:d])


@pytest.mark.parametrize("noise", ["additive", "multiplicative"])
def test_the_estimate_approaches_the_slope_of_the_expected_regret(noise):
    # The cheaper of two items: the probability of the first one is a normal distribution function.
    problem = Problem(oracle=lambda c: [float(c[0] <= c[1]), float(c[0] > c[1])], dimension=2)
    predicted = torch.tensor([[2.0, 1.5]], dtype=torch.float64)
    true, solution, sigma = torch.tensor([[1.0, 3.0]]).double(), torch.tensor([[1.0, 0.0]]).double(), 0.4
    loss = PerturbedOptimizer(problem, sigma=sigma, samples=4000, noise=noise, task="regret", seed=0)
    _, gradient = loss.loss_and_gradient(predicted, true, solution)
    if noise == "additive":
        z, scale = (predicted[0, 1] - predicted[0, 0]) / (sigma * math.sqrt(2)), 1 / (sigma * math.sqrt(2))
        slope = torch.tensor([-scale, scale])
    else:
        z = (predicted[0, 1].log() - predicted[0, 0].log()) / (sigma * math.sqrt(2))
        slope = torch.tensor([-1.0, 1.0]) / (sigma * math.sqrt(2)) / predicted[0]
    density = torch.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    # The regret is 2 times the probability of the second item.
    assert torch.allclose(gradient[0], -2.0 * density * slope.double(), rtol=0.12)


def test_with_one_sample_there_is_no_mean_to_subtract():
    kind = KINDS["plain"]
    b = batch(kind, seed=1)
    loss = PerturbedOptimizer(kind.problem(), samples=1, task="regret", reduction="sum")
    _, gradient = value_and_gradient(loss, b)
    assert gradient.abs().max() > 0


def test_a_factor_cannot_move_a_cost_of_zero():
    kind = KINDS["plain"]
    b = batch(kind, seed=1)
    predicted = b.predicted.clone()
    predicted[:, 1] = 0.0
    loss = PerturbedOptimizer(kind.problem(), noise="multiplicative")
    _, gradient = loss.loss_and_gradient(predicted, b.true, b.solution)
    assert torch.isfinite(gradient).all()
    assert (gradient[:, 1] == 0).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"noise": "loud"}, "noise must be 'additive' or 'multiplicative', got 'loud'"), ({"task": "x"}, "task must be")],
)
def test_settings_that_make_no_sense_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        PerturbedOptimizer(KINDS["plain"].problem(), **settings)
