from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from regretless.errors import InputError, SolveError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.relaxation import BarrierProgram, QuadraticProgram, Relaxation
from regretless.relaxation import relaxation_layer as layers

PROGRAMS = [QuadraticProgram(tau=0.3), BarrierProgram(cutoff=0.05)]


def numeric_gradient(layer, costs: torch.Tensor, weights: torch.Tensor, step: float = 1e-5) -> torch.Tensor:
    gradient = torch.zeros_like(costs)
    for j in range(costs.shape[1]):
        shift = torch.zeros_like(costs)
        shift[:, j] = step
        gradient[:, j] = ((layer(costs + shift) - layer(costs - shift)) * weights).sum(1) / (2 * step)
    return gradient


def exact_gradient(layer, costs: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    costs = costs.clone().requires_grad_()
    (layer(costs) * weights).sum().backward()
    assert costs.grad is not None
    return costs.grad


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_gradient_is_that_of_central_differences(random_model, program, seed):
    layer = Relaxation(Problem(random_model(seed)), program)
    rng = np.random.default_rng(100 + seed)
    costs, weights = torch.tensor(rng.normal(size=(3, 7))), torch.tensor(rng.normal(size=(3, 7)))
    exact, numeric = exact_gradient(layer, costs, weights), numeric_gradient(layer, costs, weights)
    error = (exact - numeric).norm(dim=1) / numeric.norm(dim=1).clamp(min=1e-3)
    # a bound may become active within a step of the quadratic program's differences, never of the barrier's
    assert error.median() < 1e-5
    assert isinstance(program, QuadraticProgram) or error.max() < 1e-4


def test_bounds_that_stand_for_infinity_do_not_change_the_solution():
    costs = torch.tensor([[-0.1, -0.1, -0.2]], dtype=torch.float64)
    rows = [[1.0, 2.0, 1.0], [2.0, 1.0, 1.0]]
    for upper in (np.inf, 1e14, 2.0**53, 2.0**63 - 1):
        layer = Relaxation(Problem(MILP(rows, row_upper=2.0, upper=upper)), QuadraticProgram(tau=0.5))
        torch.testing.assert_close(layer(costs), torch.tensor([[0.2, 0.2, 0.4]], dtype=torch.float64))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_batch_is_what_its_instances_are_alone(random_model, program):
    layer = Relaxation(Problem(random_model(3)), program)
    costs = torch.tensor(np.random.default_rng(0).normal(size=(6, 7)))
    together = layer(costs)
    alone = torch.cat([layer(row[None]) for row in costs])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-7)


@pytest.mark.parametrize("program", PROGRAMS)
def test_hard_instances_do_not_spoil_the_others(random_model, program):
    layer = Relaxation(Problem(random_model(1)), program)
    easy = torch.tensor(np.random.default_rng(0).normal(size=(4, 7)))
    hard = torch.stack([torch.zeros(7), torch.full((7,), 1e9), torch.linspace(-1e-9, 1e-9, 7)]).double()
    together = layer(torch.cat([easy[:2], hard, easy[2:]]))
    torch.testing.assert_close(together[[0, 1, 5, 6]], layer(easy), rtol=0, atol=1e-7)
    assert torch.isfinite(together).all()


@pytest.mark.parametrize("program", PROGRAMS)
def test_cost_map_and_known_costs_are_part_of_the_objective(program):
    rng = np.random.default_rng(5)
    A, G, h = rng.random((2, 5)), rng.normal(size=(3, 5)), rng.normal(size=5)
    plain = Relaxation(Problem(MILP(A, row_upper=1.0)), program)
    mapped = Relaxation(Problem(MILP(A, row_upper=1.0, cost_map=G, fixed_cost=h, constant=2.0)), program)
    costs = torch.tensor(np.c_[rng.normal(size=(4, 3)), np.ones(4)])
    x = plain(costs[:, :3] @ torch.tensor(G) + torch.tensor(h))
    expected = torch.cat([x @ torch.tensor(G).T, (x @ torch.tensor(h))[:, None] + 2.0], dim=1)
    torch.testing.assert_close(mapped(costs), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("program", PROGRAMS)
def test_families_solve_each_instance_with_its_own_constraints(random_model, program):
    members = [random_model(seed, hard=False) for seed in (1, 2, 3)]
    layer = Relaxation(Problem(Family(members)), program)
    costs = torch.tensor(np.random.default_rng(0).normal(size=(5, 7)), requires_grad=True)
    instance = torch.tensor([2, 0, 2, 1, 0])
    solution = layer(costs, instance)
    alone = [Relaxation(Problem(members[i]), program)(row[None]) for i, row in zip(instance, costs, strict=True)]
    torch.testing.assert_close(solution, torch.cat(alone), rtol=0, atol=1e-7)
    (gradient,) = torch.autograd.grad((solution * costs.detach()).sum(), costs)
    (expected,) = torch.autograd.grad((torch.cat(alone) * costs.detach()).sum(), costs)
    torch.testing.assert_close(gradient, expected, rtol=1e-4, atol=1e-5)


def test_single_precision_comes_back_as_single_precision():
    layer = Relaxation(Problem(MILP([[1.0, 1.0]], row_upper=1.0)), QuadraticProgram(tau=1.0))
    costs = torch.tensor([[-1.0, -0.5]], requires_grad=True)
    solution = layer(costs)
    solution.sum().backward()
    assert solution.dtype == costs.grad.dtype == torch.float32


def test_fixed_variables_keep_their_value_and_get_no_gradient():
    layer = Relaxation(Problem(MILP([[1.0, 1.0]], row_upper=3.0, lower=[2.0, 0.0], upper=[2.0, 1.0])), PROGRAMS[0])
    costs = torch.tensor([[-1.0, -0.1]], requires_grad=True)
    solution = layer(costs)
    solution[:, 1].sum().backward()
    assert solution[0, 0] == 2.0
    assert costs.grad[0, 0] == 0.0
    assert costs.grad[0, 1] == pytest.approx(-1 / 0.3, rel=1e-4)


def test_a_model_with_one_feasible_point_returns_it():
    layer = Relaxation(Problem(MILP([[1.0, 1.0]], row_lower=2.0)), PROGRAMS[1])
    costs = torch.tensor([[1.0, -3.0]], requires_grad=True)
    solution = layer(costs)
    solution.sum().backward()
    assert solution.tolist() == [[1.0, 1.0]]
    assert costs.grad.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("program", PROGRAMS)
def test_models_without_rows_are_boxes(program):
    layer = Relaxation(Problem(MILP(np.zeros((1, 2)))), program)
    assert layer(torch.tensor([[-9.0, 9.0]])).round(decimals=1).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("program", PROGRAMS)
def test_infeasible_relaxations_are_reported(program):
    contradiction = MILP(
        [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]], row_lower=[1.9, -1, 1.2], row_upper=[2, 2, 2]
    )
    with pytest.raises(SolveError, match="feasible"):
        Relaxation(Problem(contradiction), program)(torch.zeros(1, 3))


def test_an_unbounded_relaxation_is_reported_with_its_instance():
    problem = Problem(MILP([[1.0, -1.0]], row_upper=1.0, upper=np.inf))
    layer = Relaxation(problem, BarrierProgram(cutoff=0.1))
    with pytest.raises(SolveError, match="instance 1 of the batch: unbounded"):
        layer(torch.tensor([[1.0, 1.0], [-2.0, 1.0]]))


def test_where_failures_are_skipped_the_other_instances_go_on():
    problem = Problem(MILP([[1.0, -1.0]], row_upper=1.0, upper=np.inf), on_failure="skip")
    solution = Relaxation(problem, BarrierProgram(cutoff=0.1))(torch.tensor([[1.0, 1.0], [-2.0, 1.0]]))
    assert torch.isfinite(solution[0]).all()
    assert torch.isnan(solution[1]).all()


def test_wrong_input_is_refused():
    layer = Relaxation(Problem(MILP([[1.0, 1.0]], row_upper=1.0)), PROGRAMS[0])
    with pytest.raises(InputError, match="finite, got nan at row 1, column 0"):
        layer(torch.tensor([[1.0, 1.0], [torch.nan, 1.0]]))
    with pytest.raises(InputError, match=r"shape \(batch, 2\), got \(1, 3\)"):
        layer(torch.zeros(1, 3))
    with pytest.raises(InputError, match="no family"):
        layer(torch.zeros(1, 2), torch.tensor([0]))
    with pytest.raises(InputError, match="no model"):
        Relaxation(Problem(oracle=lambda c: c, dimension=2), PROGRAMS[0])


def test_presolve_runs_once_per_linear_program(monkeypatch):
    reduced, presolve = [], layers.presolve
    monkeypatch.setattr(layers, "presolve", lambda milp: (reduced.append(milp), presolve(milp))[1])
    family = Family([MILP([[1.0, 1.0]], row_upper=bound) for bound in (1.0, 1.5, 1.8)])
    layer = Relaxation(Problem(family), PROGRAMS[0])
    for ids in ([0, 1, 0], [1, 0]):
        layer(-torch.ones(len(ids), 2), torch.tensor(ids))
    assert len(reduced) == 2


def test_an_empty_batch_gives_an_empty_answer():
    layer = Relaxation(Problem(MILP([[1.0, 1.0]], row_upper=1.0)), PROGRAMS[0])
    assert layer(torch.zeros(0, 2)).shape == (0, 2)


def test_a_layer_can_be_copied(random_model):
    layer = Relaxation(Problem(random_model(1), oracle=lambda c: c), PROGRAMS[0])
    costs = torch.ones(1, 7)
    assert torch.equal(layer(costs), copy.deepcopy(layer)(costs))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_gpu_gives_what_the_cpu_gives(random_model, program):
    layer = Relaxation(Problem(random_model(2), oracle=lambda c: c), program)
    rng = np.random.default_rng(0)
    costs, weights = torch.tensor(rng.normal(size=(5, 7))), torch.tensor(rng.normal(size=(5, 7)))
    on_gpu = exact_gradient(layer, costs.cuda(), weights.cuda())
    torch.testing.assert_close(layer(costs.cuda()).cpu(), layer(costs), rtol=0, atol=1e-7)
    torch.testing.assert_close(on_gpu.cpu(), exact_gradient(layer, costs, weights), rtol=1e-4, atol=1e-5)


def test_a_large_cost_map_is_sparse_and_gives_the_same(random_model, monkeypatch):
    model = random_model(1)
    costs = torch.randn(4, model.n, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = []
    for most in (layers.DENSE, 0):
        monkeypatch.setattr(layers, "DENSE", most)
        leaf = costs.clone().requires_grad_()
        Relaxation(Problem(model), QuadraticProgram(tau=1.0))(leaf).square().sum().backward()
        found.append(leaf.grad)
    torch.testing.assert_close(found[0], found[1])


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_first_call_in_inference_mode_leaves_no_trace(random_model, program):
    layer = Relaxation(Problem(random_model(0)), program)
    costs, weights = torch.linspace(-1, 1, 7, dtype=torch.float64)[None], torch.ones(1, 7)
    with torch.inference_mode():
        first = layer(costs).clone()
    assert torch.equal(first, layer(costs))
    other = Relaxation(Problem(random_model(0)), program)
    assert torch.equal(exact_gradient(layer, costs, weights), exact_gradient(other, costs, weights))
