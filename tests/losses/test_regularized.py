from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.losses import RegularizedFenchelYoung, RegularizedOptimizer
from regretless.losses.regularized import regularized_minimum

from .tiny import KINDS, batch, cache, members, value_and_gradient


def answer_of(points):
    return lambda costs: points[(costs @ points.T).argmin(dim=1)]


@given(seed=st.integers(0, 10_000), size=st.integers(1, 12), known=st.booleans())
def test_the_minimum_over_the_hull_is_proven_by_all_points(seed, size, known):
    generator = torch.Generator().manual_seed(seed)
    points = torch.randint(0, 3, (size, 4), generator=generator).double()
    costs = torch.randn(5, 4, generator=generator, dtype=torch.float64)
    curvature = torch.full((4,), 0.8, dtype=torch.float64)
    curvature[3] = 0.0 if known else 0.8
    found = regularized_minimum(answer_of(points), costs, curvature, tolerance=1e-9, max_iterations=2000)
    # A convex combination of points ...
    assert (found.weights >= 0).all()
    assert torch.allclose(found.weights.sum(1), torch.ones(5, dtype=torch.float64))
    assert torch.allclose((found.weights[:, :, None] * found.vertices).sum(1), found.point, atol=1e-9)
    assert all((vertex == points).all(1).any() for row in found.vertices for vertex in row)
    # ... from which no point lies downhill.
    slope = costs + curvature * found.point
    gap = (slope * found.point).sum(1) - (slope @ points.T).min(dim=1).values
    assert (gap <= 1e-8).all()


def test_the_iteration_ends_at_the_tolerance_or_at_the_limit():
    points, calls = torch.eye(4, dtype=torch.float64), []

    def answer(costs):
        calls.append(1)
        return answer_of(points)(costs)

    costs, curvature = torch.zeros(1, 4).double(), torch.ones(4).double()
    exact = regularized_minimum(answer, costs, curvature, tolerance=1e-12, max_iterations=1000)
    assert torch.allclose(exact.point, torch.full((1, 4), 0.25).double(), atol=1e-5)
    assert len(calls) < 1000
    calls.clear()
    regularized_minimum(answer, costs, curvature, tolerance=0.0, max_iterations=3)
    assert len(calls) == 4


def test_a_strong_linear_term_leaves_one_solution():
    points = torch.eye(3, dtype=torch.float64)
    found = regularized_minimum(
        answer_of(points), torch.tensor([[-9.0, 0.0, 0.0]]).double(), torch.ones(3).double(),
        tolerance=1e-12, max_iterations=50,
    )  # fmt: skip
    assert found.point.tolist() == [[1.0, 0.0, 0.0]]
    assert int((found.weights > 0).sum()) == 1


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
