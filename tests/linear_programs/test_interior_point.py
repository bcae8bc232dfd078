from __future__ import annotations

import time

import numpy as np
import pytest
import torch

from regretless.linear_programs import interior_point
from regretless.linear_programs.interior_point import solve_interior
from regretless.linear_programs.presolve import presolve
from regretless.milp import MILP
from regretless.problems.multi_knapsack import multi_knapsack_data
from regretless.problems.polynomial_costs import Formula


def solved(model, costs, **settings):
    """Optimal values of the relaxation at costs ``(batch, n)``, and which programs converged."""
    system, form = presolve(model)
    end, done, _ = solve_interior(form, torch.as_tensor(costs[:, system.keep]), **settings)
    x = np.tile(system.offset, (len(costs), 1))
    x[:, system.keep] += end.z[:, : form.n].numpy()
    return (costs * x).sum(axis=1), done


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_values_are_those_of_highs_at_every_scale_of_the_costs(random_model, minimum, seed, scale):
    model = random_model(seed)
    costs = scale * np.random.default_rng(seed).normal(size=(4, model.n))
    values, done = solved(model, costs)
    assert bool(done.all())
    best = np.array([minimum(model, c / scale) * scale for c in costs])
    assert np.abs(values - best).max() <= 1e-6 * scale * (1 + np.abs(best / scale).max())


def test_programs_that_have_ended_leave_the_batch_without_effect_on_the_others(random_model, monkeypatch):
    model = random_model(2)
    costs = np.random.default_rng(2).normal(size=(12, model.n))
    together = solved(model, costs)[0]
    monkeypatch.setattr(interior_point, "LEAVE", 1.0)  # all stay to the end
    assert np.allclose(together, solved(model, costs)[0], rtol=1e-6, atol=1e-7)


def test_zero_costs_converge(random_model):
    values, done = solved(random_model(0), np.zeros((2, random_model(0).n)))
    assert values.tolist() == [0.0, 0.0]
    assert bool(done.all())


@pytest.mark.parametrize("penalty", [1e7, 1e9])
def test_the_gap_is_small_beside_the_objective_and_not_only_beside_a_penalty(penalty):
    model = MILP([[1.0, 2.0, 1.0]], row_lower=3.0, upper=[2.0, 2.0, np.inf], integer=False)
    values, done = solved(model, np.array([[1.0, 3.0, penalty]]))
    assert bool(done.all())
    assert values[0] == pytest.approx(3.5, rel=1e-5)


@pytest.mark.parametrize("tolerance", [1e-7, 1e-12])
def test_an_optimum_of_zero_converges_although_its_terms_are_large(tolerance):
    model = MILP([[1.0, -1.0, 0.0], [1.0, 0.0, 1.0]], row_lower=[0.0, 3e5], row_upper=[np.inf, 4e5], upper=1e6)
    values, done = solved(model, np.array([[1.0, -1.0, 0.0], [1.0, -0.5, -0.5]]), tolerance=tolerance)
    assert bool(done.all())
    assert values[0] == pytest.approx(0.0, abs=1e-5)


def test_a_deadline_that_has_passed_leaves_programs_open(random_model, monkeypatch):
    monkeypatch.setattr(interior_point, "FIRST_CHECK", 0)
    model = random_model(0)
    _, done = solved(model, np.ones((2, model.n)), deadline=time.monotonic() - 1.0)
    assert not bool(done.any())


def test_scattered_products_are_centered_first(monkeypatch):
    """In training with SPO+ on thousands of items, programs converge slowly without the rule, and some not at all."""
    weights, features, values = multi_knapsack_data(Formula(40, 5, 4, 0.5, 42), 3000, 50)
    model = MILP(weights, row_upper=150.0, integer=False)
    torch.manual_seed(42)
    predicted = torch.nn.Linear(5, 3000)(torch.as_tensor(features, dtype=torch.float32)).detach().double().numpy()
    costs = (values - 2 * predicted)[[2, 3, 12, 17]]
    monkeypatch.setattr(interior_point, "ITERATIONS", 45)
    assert solved(model, costs)[1].all()
    monkeypatch.setattr(interior_point, "SCATTERED", torch.inf)
    assert not solved(model, costs)[1].all()
