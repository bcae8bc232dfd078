from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError
from regretless.losses import RegularizedFenchelYoung, RegularizedOptimizer

from .tiny import KINDS, batch, cache, members, value_and_gradient

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


@EVERY_KIND
def test_the_fenchel_young_gradient_is_the_lead_over_the_minimum_of_the_hull(kind):
    kind = KINDS[kind]
    b = batch(kind, seed=1)
    loss = RegularizedFenchelYoung(cache(kind.problem(), b), lambda_=0.7, tolerance=1e-12, reduction="none")
    values, gradient = value_and_gradient(loss, b)
    p, d = kind.to_minimization(b.predicted), kind.problem().dimension
    found = loss.regularized(p, kind.to_minimization(b.true), b.solution, b.instance).point

    def objective(i, v):
        return p[i] @ v + 0.35 * v[..., :d].square().sum(-1)

    for i in range(len(values)):
        points = members(kind, b, i)
        slope = p[i] + 0.7 * torch.cat([found[i, :d], torch.zeros(len(found[i]) - d)])
        assert slope @ found[i] <= (points @ slope).min() + 1e-6
        torch.testing.assert_close(values[i], objective(i, b.solution[i]) - objective(i, found[i]))
        torch.testing.assert_close(gradient[i], (b.solution[i] - found[i])[:d])
        assert values[i] >= -1e-9


def test_the_loss_is_convex_along_a_line():
    kind = KINDS["plain"]
    b = batch(kind, seed=4)
    loss = RegularizedFenchelYoung(kind.problem(), reduction="sum")
    values = [loss(b.predicted + t * b.true, b.true, b.solution) for t in torch.linspace(-1, 1, 9)]
    assert (torch.stack(values).diff(n=2) >= -1e-6).all()


@pytest.mark.parametrize("make", [RegularizedFenchelYoung, RegularizedOptimizer])
def test_where_the_optimum_is_far_ahead_there_is_neither_loss_nor_gradient(make):
    kind = KINDS["plain"]
    b = batch(kind, seed=2)
    value, gradient = make(kind.problem(), lambda_=0.01).loss_and_gradient(50 * b.true, b.true, b.solution)
    assert float(value) == pytest.approx(0.0, abs=1e-6)
    assert gradient.abs().max() < 1e-6


def test_finite_differences_give_the_gradient_of_the_fenchel_young_loss():
    kind = KINDS["known"]
    b = batch(kind, seed=3)
    loss = RegularizedFenchelYoung(cache(kind.problem(), b), lambda_=0.7, tolerance=1e-13, reduction="sum")
    _, gradient = value_and_gradient(loss, b)
    step = 1e-6 * torch.randn(b.predicted.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    change = loss(b.predicted + step, b.true, b.solution) - loss(b.predicted - step, b.true, b.solution)
    torch.testing.assert_close(change, 2 * (gradient * step).sum(), rtol=1e-4, atol=1e-10)


@pytest.mark.parametrize("task", ["regret", "squared"])
def test_the_gradient_of_the_optimizer_is_that_of_its_task_loss_by_finite_differences(task):
    kind = KINDS["mapped and known"]
    b = batch(kind, seed=5)
    loss = RegularizedOptimizer(cache(kind.problem(), b), lambda_=2.0, tolerance=1e-14, task=task, reduction="sum")
    _, gradient = value_and_gradient(loss, b)
    assert gradient.abs().max() > 0
    step = 1e-5 * torch.randn(b.predicted.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    change = loss(b.predicted + step, b.true, b.solution) - loss(b.predicted - step, b.true, b.solution)
    torch.testing.assert_close(change, 2 * (gradient * step).sum(), rtol=1e-3, atol=1e-10)


def test_over_a_cache_the_iterations_are_look_ups_and_the_coin_is_flipped_once():
    kind = KINDS["plain"]
    b = batch(kind, seed=1)
    oracle = cache(kind.problem(), b, p_solve=1.0, grow_at="predicted")
    RegularizedFenchelYoung(oracle)(b.predicted, b.true, b.solution)
    assert oracle.statistics.solves == oracle.statistics.asked == 6
    assert oracle.statistics.lookups > 12


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lambda_": 0.0}, "lambda_ must be a finite number above 0, got 0"),
        ({"tolerance": -1.0}, "tolerance must be a finite number, at least 0, got -1"),
        ({"max_iterations": 0}, "max_iterations must be an integer, at least 1, got 0"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        RegularizedFenchelYoung(KINDS["plain"].problem(), **settings)


def test_the_gap_that_is_left_is_told():
    kind = KINDS["plain"]
    b = batch(kind, seed=1)
    for most, converged in ((1, False), (1000, True)):
        loss = RegularizedFenchelYoung(kind.problem(), max_iterations=most)
        loss(b.predicted, b.true, b.solution)
        assert (loss.diagnostics()["regularized_gap"] <= loss.tolerance) is converged
        resumed = RegularizedFenchelYoung(kind.problem(), max_iterations=most)
        resumed.load_running_state(loss.running_state())
        assert resumed.diagnostics() == loss.diagnostics()
