from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from regretless import MILP
from regretless.linear_programs import first_order_solver as module
from regretless.linear_programs.first_order_solver import FirstOrderSolver
from regretless.types import Status


def test_bounded_sets_have_no_rays_and_infeasible_ones_no_answer():
    solver = FirstOrderSolver(MILP([[1.0, 1.0]], row_lower=3.0, integer=False), tolerance=1e-6)
    assert solver._rays is None
    assert solver.solve(torch.ones(2, 2, dtype=torch.float64)).status == [Status.INFEASIBLE] * 2


def test_costs_that_fall_to_infinity_are_unbounded(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 500)
    model = MILP([[1.0, -1.0]], row_upper=1.0, upper=np.inf, integer=False)
    costs = torch.tensor([[-1.0, -1.0], [-1.0, 2.0], [0.0, -1e-3]], dtype=torch.float64)
    answers = FirstOrderSolver(model, tolerance=1e-7).solve(costs)
    assert answers.status == [Status.UNBOUNDED, Status.OPTIMAL, Status.UNBOUNDED]
    assert torch.allclose(answers.x[1], torch.tensor([1.0, 0.0], dtype=torch.float64), atol=1e-6)
    assert bool(torch.isnan(answers.x[[0, 2]]).all())


def test_difficult_programs_get_more_iterations_and_then_an_error(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 50)
    model = MILP([[1.0, 2.0], [2.0, 1.0]], row_lower=1.0, upper=np.inf, integer=False)
    answers = FirstOrderSolver(model, tolerance=1e-8).solve(torch.tensor([[3.0, 2.0]], dtype=torch.float64))
    assert answers.status == [Status.OPTIMAL]
    monkeypatch.setattr(module, "ITERATIONS", 50)
    bounded = MILP([[1.0, 2.0], [2.0, 1.0]], row_lower=1.0, integer=False)
    answers = FirstOrderSolver(bounded, tolerance=1e-13).solve(torch.tensor([[3.0, 2.0]], dtype=torch.float64))
    assert answers.status == [Status.ERROR]
    assert "did not converge to 1e-13" in answers.message[0]


def test_bounds_that_stand_for_infinity_do_not_change_the_answer(random_model):
    model = random_model(0).relax()
    costs = torch.as_tensor(np.random.default_rng(0).normal(size=(2, model.n)))
    plain = FirstOrderSolver(replace(model, upper=np.inf), tolerance=1e-6)
    huge = FirstOrderSolver(replace(model, upper=1e14), tolerance=1e-6)
    assert torch.equal(huge.solve(costs.abs()).x, plain.solve(costs.abs()).x)
