from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.family import Family
from regretless.losses import AdaptiveImplicitMLE, ImplicitMLE, PerturbedFenchelYoung, PerturbedOptimizer
from regretless.losses.perturbed import sum_of_gamma_noise
from regretless.losses.task_loss import task_loss
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.training.methods import make_loss

from .tiny import KINDS, batch, best, cache, members, value_and_gradient

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


NOISES = pytest.mark.parametrize("noise", ["additive", "multiplicative"])
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def perturbed(kind, p, z, sigma, noise):
    """Costs and factors of one instance by definition; the last coordinate of known costs has no noise."""
    factor = torch.exp(sigma * z - sigma**2 / 2) if noise == "multiplicative" else torch.ones_like(z)
    costs = p + sigma * z if noise == "additive" else p * factor
    problem = kind.problem()
    if problem.width > problem.dimension:
        costs[:, -1], factor[:, -1] = p[-1], 1.0
    return costs, factor


@NOISES
@EVERY_KIND
def test_value_and_gradient_are_those_of_the_definition(kind, noise):
    kind = KINDS[kind]
    b = batch(kind, seed=1)
    loss = PerturbedFenchelYoung(cache(kind.problem(), b), sigma=0.5, samples=7, noise=noise, seed=3, reduction="none")
    values, gradient = value_and_gradient(loss, b)
    p = kind.to_minimization(b.predicted)
    z = torch.randn(len(p), 7, p.shape[1], generator=torch.Generator().manual_seed(3), dtype=p.dtype).transpose(0, 1)
    sign = kind.problem().sign
    for i in range(len(values)):
        costs, factor = perturbed(kind, p[i], z[:, i], 0.5, noise)
        solutions = torch.stack([best(members(kind, b, i), c) for c in costs])
        torch.testing.assert_close(values[i], p[i] @ b.solution[i] - (costs * solutions).sum(1).mean())
        expected = sign * (b.solution[i] - (factor * solutions).mean(0))
        torch.testing.assert_close(gradient[i], expected[: gradient.shape[1]])


@NOISES
def test_with_the_same_noise_finite_differences_give_the_gradient(noise):
    kind = KINDS["plain"]
    b = batch(kind, seed=2)
    loss = PerturbedFenchelYoung(kind.problem(), sigma=0.5, samples=5, noise=noise, reduction="sum")
    state = loss.running_state()

    def value(predicted):
        loss.load_running_state(state)
        return loss(predicted, b.true, b.solution, b.instance)

    loss.load_running_state(state)
    _, gradient = loss.loss_and_gradient(b.predicted, b.true, b.solution, b.instance)
    step = 1e-6 * torch.randn_like(b.predicted)
    slope = value(b.predicted + step) - value(b.predicted - step)
    torch.testing.assert_close(slope, 2 * (gradient * step).sum(), rtol=1e-4, atol=1e-9)


def test_the_loss_is_convex_along_a_line():
    kind = KINDS["plain"]
    b = batch(kind, seed=4)
    loss = PerturbedFenchelYoung(kind.problem(), samples=20, reduction="sum")
    state = loss.running_state()
    values = []
    for t in torch.linspace(-1, 1, 9):
        loss.load_running_state(state)
        values.append(loss(b.predicted + t * b.true, b.true, b.solution, b.instance))
    assert (torch.stack(values).diff(n=2) >= -1e-9).all()


@EVERY_KIND
def test_a_cache_that_always_solves_where_it_looks_equals_no_cache(kind):
    kind = KINDS[kind]
    b = batch(kind, seed=5)
    exact = PerturbedFenchelYoung(kind.problem(), samples=3, reduction="none")
    solved = SolutionCache(kind.problem(), p_solve=1.0, grow_at="transformed", dtype=torch.float64)
    cached = PerturbedFenchelYoung(solved, samples=3, reduction="none")
    for a, c in zip(value_and_gradient(exact, b), value_and_gradient(cached, b), strict=True):
        assert torch.equal(a, c)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noise": "loud"}, "noise must be 'additive' or 'multiplicative', got 'loud'"),
    ],
)
def test_settings_of_fenchel_young_that_make_no_sense_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        PerturbedFenchelYoung(KINDS["plain"].problem(), **settings)


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
def test_settings_of_the_optimizer_that_make_no_sense_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        PerturbedOptimizer(KINDS["plain"].problem(), **settings)
