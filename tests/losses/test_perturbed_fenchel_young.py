from __future__ import annotations

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses import PerturbedFenchelYoung

from .tiny import KINDS, batch, best, cache, members, value_and_gradient

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
def test_settings_that_make_no_sense_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        PerturbedFenchelYoung(KINDS["plain"].problem(), **settings)
