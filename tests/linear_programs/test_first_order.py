from __future__ import annotations

import time

import numpy as np
import pytest
import torch

from regretless.linear_programs.first_order import _State, solve_first_order
from regretless.linear_programs.scaled_rows import ScaledRows
from regretless.milp import MILP


@pytest.mark.parametrize("seed", [0, 5, 10])
def test_values_are_those_of_highs(random_model, minimum, seed):
    model = random_model(seed)
    costs = 1e3 * np.random.default_rng(seed).normal(size=(4, model.n))
    x, done = solve_first_order(ScaledRows.of(model), torch.as_tensor(costs), tolerance=1e-6)
    assert bool(done.all())
    assert model.relax().check(x.numpy(), 1e-5).all()
    best = np.array([minimum(model, c) for c in costs])
    assert np.abs((costs * x.numpy()).sum(axis=1) - best).max() <= 1e-5 * (1e3 + np.abs(best).max())


def test_the_gap_is_small_beside_the_objective_and_not_only_beside_a_penalty():
    model = MILP([[1.0, 2.0, 1.0]], row_lower=3.0, upper=[2.0, 2.0, np.inf], integer=False)
    costs = torch.tensor([[1.0, 3.0, 1e6]], dtype=torch.float64)
    x, done = solve_first_order(ScaledRows.of(model), costs, tolerance=1e-6)
    assert bool(done.all())
    assert float((costs * x).sum()) == pytest.approx(3.5, rel=1e-4)


def test_the_costs_of_fixed_variables_change_nothing():
    model = MILP([[1.0, 2.0, 3.0, 0.0]], row_upper=3.0, lower=[0.0, 0.0, 0.0, 1.0], integer=False)
    costs = torch.tensor([[-1.0, -1.5, -3.1, 0.0], [-1.0, -1.5, -3.1, 1e9]], dtype=torch.float64)
    x, done = solve_first_order(ScaledRows.of(model), costs, tolerance=1e-7)
    assert bool(done.all())
    assert torch.equal(x[0], x[1])
    assert torch.allclose(x[0], torch.tensor([0.0, 0.0, 1.0, 1.0], dtype=torch.float64), atol=1e-5)


def test_costs_of_zero_converge(random_model):
    model = random_model(0)
    x, done = solve_first_order(ScaledRows.of(model), torch.zeros(2, model.n, dtype=torch.float64), tolerance=1e-6)
    assert bool(done.all())
    assert model.relax().check(x.numpy(), 1e-5).all()


def test_what_has_not_converged_says_so(random_model):
    model = random_model(0)
    costs = torch.as_tensor(np.random.default_rng(0).normal(size=(3, model.n)))
    rows = ScaledRows.of(model)
    x, done = solve_first_order(rows, costs, tolerance=1e-12, iterations=100)
    assert not bool(done.any())
    assert bool(((x >= rows.lower) & (x <= rows.upper)).all())
    _, done = solve_first_order(rows, costs, tolerance=1e-9, deadline=time.monotonic() - 1.0)
    assert not bool(done.any())


def test_a_candidate_is_the_point_or_the_average_whichever_has_the_smaller_error(random_model):
    rows = ScaledRows.of(random_model(0))
    state = _State(rows, torch.as_tensor(np.random.default_rng(0).normal(size=(len(rows.lower), 3))))
    for count in range(1, 40):
        state.step(count)
        _, errors = state.candidate()
        here = state._errors(state.now).weighted(state.weight)
        assert bool((errors.weighted(state.weight) <= here).all())
