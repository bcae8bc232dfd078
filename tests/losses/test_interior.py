from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from regretless.errors import InputError, SolveError
from regretless.losses.interior import Interior
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.knapsack.oracle import knapsack_problem

WEIGHTS = np.random.default_rng(0).choice([3, 5, 7], size=48)
VALUES = np.random.default_rng(1).uniform(20, 300, size=(6, 48))


def test_value_at_a_small_cutoff_is_that_of_the_linear_relaxation():
    loss = Interior(knapsack_problem(WEIGHTS, 120), cutoff=1e-4, reduction="none")
    costs = torch.tensor(VALUES)
    values = loss(costs, costs, torch.zeros_like(costs))
    expected = [linprog(-c, WEIGHTS[None], [120.0], bounds=(0, 1)).fun for c in VALUES]
    np.testing.assert_allclose(values.numpy(), expected, rtol=1e-4)


@pytest.mark.parametrize("cutoff", [0.1, 1.0, 30.0])
def test_gradient_is_that_of_central_differences(cutoff):
    loss = Interior(knapsack_problem(WEIGHTS, 120), cutoff=cutoff, reduction="none")
    true, rng = torch.tensor(VALUES), np.random.default_rng(2)
    predicted = (true + torch.tensor(rng.normal(size=true.shape)) * 30).requires_grad_()
    (gradient,) = torch.autograd.grad(loss(predicted, true, torch.zeros_like(true)).sum(), predicted)
    direction, step = torch.tensor(rng.normal(size=true.shape)), 1e-4
    with torch.no_grad():
        ahead, behind = (loss(predicted + s * direction, true, torch.zeros_like(true)) for s in (step, -step))
    numeric, exact = (ahead - behind) / (2 * step), (gradient * direction).sum(dim=1)
    torch.testing.assert_close(exact, numeric, rtol=1e-4, atol=1e-6 * float(gradient.abs().max()))


def test_damping_changes_the_gradient_and_not_the_loss():
    problem, true = knapsack_problem(WEIGHTS, 120), torch.tensor(VALUES)
    losses, gradients = [], []
    for damping in (0.0, 0.1, 100.0):
        predicted = (0.9 * true).requires_grad_()
        loss = Interior(problem, cutoff=1.0, damping=damping)(predicted, true, torch.zeros_like(true))
        loss.backward()
        losses.append(loss.item())
        gradients.append(predicted.grad)
    assert losses[0] == losses[1] == losses[2]
    near, far = ((gradients[0] - other).norm() / gradients[0].norm() for other in gradients[1:])
    assert 0.0 < near < far


def test_senses_mirror_each_other():
    rng = np.random.default_rng(4)
    predicted, true = torch.tensor(rng.normal(size=(2, 5, 4)))
    solution = torch.zeros(5, 4, dtype=torch.float64)
    milp = MILP(rng.random((2, 4)), row_upper=1.0)
    least = Interior(Problem(milp, sense="min"), cutoff=0.2)(predicted, true, solution)
    most = Interior(Problem(milp, sense="max"), cutoff=0.2)(-predicted, -true, solution)
    assert least.item() == pytest.approx(most.item(), abs=1e-9)


def test_known_costs_are_part_of_the_loss():
    milp = MILP([[1.0, 1.0]], row_upper=1.0, fixed_cost=[0.5, -0.5], constant=1.0)
    loss = Interior(Problem(milp), cutoff=1e-6)
    costs = torch.tensor([[-1.0, -1.0]], dtype=torch.float64)
    # known costs decide for the second item: its whole cost is -1 - 0.5 + 1, that of the first -1 + 0.5 + 1
    assert loss(costs, costs, torch.tensor([[1.0, 0.0, 1.5]]).double()).item() == pytest.approx(-1.0, abs=1e-4)


def test_wrong_settings_are_refused():
    problem = knapsack_problem(WEIGHTS, 120)
    with pytest.raises(InputError, match="cutoff"):
        Interior(problem, cutoff=-1.0)
    with pytest.raises(InputError, match="damping"):
        Interior(problem, damping=-1.0)
    with pytest.raises(InputError, match="no model"):
        Interior(Problem(oracle=lambda c: c, dimension=3))


def test_predictions_that_are_no_numbers_and_unbounded_relaxations_are_refused():
    problem = Problem(MILP([[1.0, -1.0]], row_upper=1.0, upper=np.inf))
    loss, true = Interior(problem), torch.ones(1, 2)
    with pytest.raises(InputError, match="finite"):
        loss(torch.tensor([[torch.nan, 1.0]]), true, true)
    with pytest.raises(SolveError, match="unbounded"):
        loss(torch.tensor([[-2.0, 1.0]]), true, true)
