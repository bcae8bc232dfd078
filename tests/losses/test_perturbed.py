from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.family import Family
from regretless.losses import AdaptiveImplicitMLE, ImplicitMLE, PerturbedFenchelYoung, PerturbedOptimizer
from regretless.losses.perturbed import sum_of_gamma_noise
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.training.methods import make_loss

from .tiny import KINDS, batch, cache

LOSSES = {
    "pfy": PerturbedFenchelYoung,
    "dpo": PerturbedOptimizer,
    "imle": ImplicitMLE,
    "aimle": AdaptiveImplicitMLE,
}
EVERY = pytest.mark.parametrize("name", LOSSES)
QUERIES = {"pfy": 1, "dpo": 1, "imle": 2, "aimle": 2}


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@EVERY
def test_all_perturbations_of_a_query_are_looked_up_in_one_product_and_counted(name):
    kind = KINDS["plain"]
    b = batch(kind, n=6)
    shared = cache(kind.problem(), b)
    calls = []
    look_up = shared.store.look_up
    shared.store.look_up = lambda *a, **k: (calls.append(1), look_up(*a, **k))[1]
    LOSSES[name](shared, samples=4)(b.predicted, b.true, b.solution, b.instance)
    assert (len(calls), shared.statistics.lookups) == (QUERIES[name], 24 * QUERIES[name])


@EVERY
def test_the_seed_decides_and_a_state_continues_the_noise(name):
    kind = KINDS["plain"]
    b = batch(kind)

    def values(loss, n):
        steps = [loss.loss_and_gradient(b.predicted, b.true, b.solution) for _ in range(n)]
        return [torch.cat([value[None], gradient.flatten()]).tolist() for value, gradient in steps]

    first, again, other = (LOSSES[name](cache(kind.problem(), b), seed=seed) for seed in (1, np.int64(1), 2))
    assert values(first, 3) == values(again, 3) != values(other, 3)
    resumed = LOSSES[name](cache(kind.problem(), b), seed=1)
    resumed.load_state_dict(first.state_dict())
    assert values(resumed, 2) == values(first, 2)


@EVERY
@pytest.mark.parametrize("kind", ["known", "mapped and known"])
def test_known_costs_have_no_noise(name, kind):
    kind = KINDS[kind]
    loss = LOSSES[name](kind.problem(), samples=3)
    predicted = kind.to_minimization(batch(kind).predicted)
    costs = loss.perturb(predicted).costs
    assert (costs[..., -1] == predicted[:, -1]).all()
    assert (costs[..., :-1] != predicted[:, :-1]).all()


@EVERY
@pytest.mark.parametrize("noise", ["additive", "multiplicative"])
def test_known_costs_of_a_family_that_change_no_decision_change_no_loss(name, noise):
    choose_one = MILP([[1.0, 1.0, 1.0]], row_lower=1.0, row_upper=1.0)
    family = Family.vary(choose_one, fixed_cost=[[100.0] * 3, [-7.0] * 3])
    predicted, true = (torch.rand(4, 3, generator=seeded(i), dtype=torch.float64) for i in (1, 2))
    ids, solution = torch.tensor([0, 1, 1, 0]), torch.eye(3, dtype=torch.float64)[true.argmin(1)]
    settings = {"samples": 5, "sigma": 0.5} | ({} if "imle" in name else {"noise": noise})
    expected = LOSSES[name](Problem(choose_one), **settings).loss_and_gradient(predicted, true, solution)
    found = LOSSES[name](Problem(family), **settings).loss_and_gradient(predicted, true, solution, ids)
    torch.testing.assert_close(found, expected)
    assert expected[1].any()


def test_multiplicative_noise_keeps_the_signs_and_the_mean():
    loss = PerturbedOptimizer(KINDS["plain"].problem(), samples=20_000, sigma=0.5, noise="multiplicative")
    predicted = torch.tensor([[1.0, -2.0, 3.0, -4.0]], dtype=torch.float64)
    costs = loss.perturb(predicted).costs
    assert (costs.sign() == predicted.sign()).all()
    assert torch.allclose(costs.mean(0), predicted, rtol=0.02)


def test_noise_is_drawn_instance_by_instance_as_in_pyepo():
    loss = PerturbedOptimizer(KINDS["plain"].problem(), samples=3, sigma=0.5, seed=7)
    predicted = torch.zeros(2, 4)
    expected = torch.randn(2, 3, 4, generator=seeded(7))
    assert torch.equal(loss.perturb(predicted).costs, 0.5 * expected.transpose(0, 1))


def test_sum_of_gamma_noise_has_the_moments_of_its_terms():
    z = sum_of_gamma_noise((400_000,), seeded(0), torch.float64, kappa=5.0, terms=10)
    # Gamma(1 / kappa, kappa / i) has mean 1 / i and variance kappa / i^2.
    mean = (sum(1 / i for i in range(1, 11)) - math.log(10)) / 5
    variance = 5 * sum(1 / i**2 for i in range(1, 11)) / 25
    assert z.mean().item() == pytest.approx(mean, abs=4 * math.sqrt(variance / len(z)))
    assert z.var().item() == pytest.approx(variance, rel=0.03)


@EVERY
def test_the_seed_of_a_run_is_that_of_the_noise(name):
    kind = KINDS["plain"]
    b = batch(kind)
    data = Dataset(b.predicted, b.true, b.solution)
    assert make_loss(name, kind.problem(), data, seed=7).seed == 7
    assert make_loss(f"{name}-cache", kind.problem(), data, seed=7, sigma=2.0).sigma == 2.0


@EVERY
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sigma": 0.0}, "sigma must be a finite number above 0, got 0"),
        ({"samples": 0}, "samples must be an integer, at least 1, got 0"),
    ],
)
def test_settings_that_make_no_sense_are_named(name, settings, message):
    with pytest.raises(InputError, match=message):
        LOSSES[name](KINDS["plain"].problem(), **settings)
