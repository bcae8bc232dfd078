from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless import MILP
from regretless.errors import SolveError
from regretless.linear_programs import interior_solver as module
from regretless.linear_programs.interior_solver import InteriorSolver
from regretless.types import Status


def test_a_batch_in_parts_is_the_batch(random_model, monkeypatch):
    model = random_model(3).relax()
    costs = torch.as_tensor(np.random.default_rng(0).normal(size=(9, model.n)))
    whole = InteriorSolver(model, tolerance=1e-8).solve(costs).x
    monkeypatch.setattr(module, "MEMORY", 1)  # one program at a time
    torch.testing.assert_close(InteriorSolver(model, tolerance=1e-8).solve(costs).x, whole, rtol=0, atol=1e-8)


def test_variables_without_bounds_and_rows_make_a_program_unbounded():
    model = MILP([[1.0, 0.0]], row_upper=0.5, lower=[0.0, -np.inf], upper=[1.0, np.inf], integer=False)
    answers = InteriorSolver(model, tolerance=1e-8).solve(torch.tensor([[-1.0, 0.0], [1.0, 1e-3]], dtype=torch.float64))
    assert answers.status == [Status.OPTIMAL, Status.UNBOUNDED]
    assert answers.x[0].tolist() == [0.5, 0.0]


def test_costs_that_fall_along_free_variables_are_unbounded():
    model = MILP([[-1.0, 2.0]], row_upper=4.0, lower=-np.inf, upper=np.inf, integer=False)
    costs = torch.tensor([[3.0, -2.0], [1.0, -2.0]], dtype=torch.float64)
    answers = InteriorSolver(model, tolerance=1e-7).solve(costs)
    assert answers.status == [Status.UNBOUNDED, Status.OPTIMAL]
    assert answers.message == {}


@pytest.mark.parametrize("large", [1e6, 1e7])
def test_rows_with_a_large_coefficient_hold_as_exactly_as_others(large):
    rows = [[1.0, 0.0, -large, 0.0], [0.0, 1.0, 0.0, -large], [1.0, 1.0, 0.0, 0.0]]
    lower, upper = [-np.inf, -np.inf, 7.3], [0.0, 0.0, np.inf]
    model = MILP(rows, row_lower=lower, row_upper=upper, upper=[np.inf, np.inf, 1.0, 1.0], integer=False)
    costs = torch.tensor([[1.0, 2.0, 1000.0, 1.0], [1.0, 1.0, 1.0, 1.0], [2.0, 3.1, 70.0, 90.0]], dtype=torch.float64)
    answers = InteriorSolver(model, tolerance=1e-7).solve(costs)
    assert answers.status == [Status.OPTIMAL] * 3
    assert bool(model.check(answers.x.numpy(), 1e-6).all())


@pytest.mark.parametrize("bound", [1e14, 2.0**53, 2.0**63 - 1])
def test_bounds_that_stand_for_infinity_do_not_change_the_answer(bound):
    model = MILP([[1.0, 2.0, 1.0], [2.0, 1.0, 1.0]], row_upper=2.0, upper=bound, integer=False)
    costs = torch.tensor([[-1.0, -2.0, -2.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
    answers = InteriorSolver(model, tolerance=1e-7).solve(costs)
    assert answers.status == [Status.OPTIMAL] * 2
    assert answers.x.tolist() == [[0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]


def test_a_program_that_ends_at_such_a_bound_is_not_unbounded_and_has_no_answer():
    rows = [[1.0, -1.0, 0.0]]
    model = MILP(rows, row_upper=1.0, lower=0.0, upper=[1e14, 1e14, np.inf], integer=False)
    costs = torch.tensor([[-1.0, -1.0, 1.0], [-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
    answers = InteriorSolver(model, tolerance=1e-7).solve(costs)
    assert answers.status == [Status.ERROR, Status.UNBOUNDED, Status.OPTIMAL]


def test_a_bounded_model_is_never_unbounded(monkeypatch):
    def lost(form, c, **settings):
        end, done, scale = real(form, c, **settings)
        return end, torch.zeros_like(done), scale

    def endless(form, c, **settings):
        point, status = embedded(form, c, **settings)
        return point, [Status.UNBOUNDED] * len(status)

    real, embedded = module.solve_interior, module.solve_self_dual
    solver = InteriorSolver(MILP([[1.0, 2.0]], row_upper=2.0, upper=1e9, integer=False), tolerance=1e-7)
    monkeypatch.setattr(module, "solve_interior", lost)
    monkeypatch.setattr(module, "solve_self_dual", endless)
    assert solver.solve(torch.ones(1, 2, dtype=torch.float64)).status == [Status.ERROR]


def test_a_model_that_presolve_solves_needs_no_method():
    answers = InteriorSolver(MILP([[1.0, 1.0]], row_lower=2.0, integer=False), tolerance=1e-8).solve(torch.ones(2, 2))
    assert answers.x.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_highs_decides_where_presolve_finds_no_feasible_point(monkeypatch):
    def fail(milp):
        raise SolveError("no feasible point")

    monkeypatch.setattr(module, "presolve", fail)
    with pytest.raises(SolveError):
        InteriorSolver(MILP([[1.0, 1.0]], row_lower=1.0, integer=False), tolerance=1e-8)
    lost = InteriorSolver(MILP([[1.0, 1.0]], row_lower=3.0, integer=False), tolerance=1e-8)
    assert lost.solve(torch.ones(1, 2)).status == [Status.INFEASIBLE]


def test_the_embedding_solves_what_the_method_leaves_open(random_model, minimum, monkeypatch):
    real = module.solve_interior

    def half(form, c, **settings):
        end, done, scale = real(form, c, **settings)
        done[::2] = False
        return end, done, scale

    monkeypatch.setattr(module, "solve_interior", half)
    model = random_model(4).relax()
    costs = np.random.default_rng(4).normal(size=(4, model.n))
    answers = InteriorSolver(model, tolerance=1e-7).solve(torch.as_tensor(costs))
    assert answers.status == [Status.OPTIMAL] * 4
    best = [minimum(model, c) for c in costs]
    assert np.allclose((costs * answers.x.numpy()).sum(axis=1), best, atol=1e-6)
