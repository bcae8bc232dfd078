from __future__ import annotations

import os

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from regretless.errors import InputError, SolveError
from regretless.losses.relaxed import QPTL, Interior, SmoothedContrastive
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.energy import Instance, Machine, Task, formulate, read_icon
from regretless.problems.knapsack.oracle import knapsack_milp, knapsack_problem
from regretless.relaxation import QuadraticProgram, Relaxation

from .tiny import KINDS, batch, value_and_gradient


def test_an_instance_that_failed_is_left_out_of_the_mean_and_of_the_gradient():
    problem = Problem(MILP([[1.0, -1.0]], row_upper=1.0, upper=np.inf), on_failure="skip")
    loss = Interior(problem, cutoff=0.1)
    predicted = torch.tensor([[1.0, 1.0], [-2.0, 1.0], [0.5, 2.0]], requires_grad=True)
    true, solution = torch.ones(3, 2), torch.zeros(3, 2)
    mean = loss(predicted, true, solution)
    mean.backward()
    alone = loss(predicted.detach()[[0, 2]], true[:2], solution[:2])
    assert torch.isclose(mean, alone)
    assert predicted.grad is not None
    assert predicted.grad[1].tolist() == [0.0, 0.0]
    assert predicted.grad[0].abs().max() > 0


def test_the_value_is_the_regret_of_the_relaxed_solution():
    loss = Interior(Problem(MILP([[1.0, 1.0]], row_upper=1.0)), cutoff=0.1, reduction="none")
    predicted, true = torch.tensor([[-1.0, -2.0]]), torch.tensor([[-3.0, -1.0]])
    relaxed, solution = loss.relaxation(predicted, None), torch.tensor([[1.0, 0.0]])
    torch.testing.assert_close(loss(predicted, true, solution), (true * (relaxed - solution)).sum(dim=1))


WEIGHTS = np.random.default_rng(0).choice([3, 5, 7], size=48)


def proxsuite_layer(
    milp: MILP, c: torch.Tensor, tau: float, weights: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Solutions and gradients of ``weights . x`` by proxsuite's QP layer, one instance at a time."""
    layer = pytest.importorskip(
        "proxsuite.torch.qplayer", reason="proxsuite, the reference for QP gradients, is missing"
    )
    A = milp.A.toarray()
    filled = np.abs(A).max(axis=1) > 0
    # It calls problems infeasible whose rows or objectives are of very different size: rows are scaled to length 1, and
    # the objective so that its quadratic term is 1.
    length = np.where(filled, np.linalg.norm(A, axis=1), 1.0)
    A, low, high = A / length[:, None], milp.row_lower / length, milp.row_upper / length
    equal, other = (low == high) & filled, (low != high) & filled
    rows = np.vstack([A[other], np.eye(milp.n)])
    lower, upper = np.r_[low[other], milp.lower], np.r_[high[other], milp.upper]
    arrays = (np.eye(milp.n), A[equal], low[equal], rows, np.maximum(lower, -1e20), np.minimum(upper, 1e20))
    Q, E, e, G, g, u = (torch.tensor(array) for array in arrays)
    solve = layer.QPFunction(eps=1e-10, maxIter=10_000, eps_backward=1e-12, rho_backward=1e-10, mu_backward=1e-10)
    solutions, gradients = [], []
    for row, weight in zip(c, weights, strict=True):
        p = row[None].clone().requires_grad_()
        x, _, _ = solve(Q, p / tau, E, e, G, g, u)
        (x * weight).sum().backward()
        solutions.append(x.detach())
        gradients.append(p.grad)
    return torch.cat(solutions), torch.cat(gradients)


def energy_like() -> MILP:
    rng = np.random.default_rng(3)
    machines = tuple(Machine(i, 0.0, 0.0, 0.0, (capacity,)) for i, capacity in enumerate((5000.0, 5500.0)))
    tasks = []
    for i in range(5):
        duration, earliest = int(rng.integers(6, 20)), int(rng.integers(0, 12))
        latest = min(48, earliest + duration + int(rng.integers(5, 16)))
        tasks.append(
            Task(i, duration, earliest, latest, float(rng.uniform(100, 700)), (float(rng.uniform(600, 4000)),))
        )
    return formulate(Instance(30, machines, tuple(tasks)))


def energy_1() -> MILP:
    folder = os.environ.get("REGRETLESS_DATA")
    if folder is None:
        pytest.skip("REGRETLESS_DATA names no folder with the public files")
    return formulate(read_icon(f"{folder}/energy-1.txt"))


@pytest.mark.parametrize(
    ("make", "batch"),
    [(lambda: knapsack_milp(WEIGHTS, 120), 12), (energy_like, 3), pytest.param(energy_1, 3, marks=pytest.mark.slow)],
    ids=["knapsack", "energy-like", "energy-1"],
)
def test_solution_and_gradient_are_those_of_proxsuite(make, batch):
    milp = make()
    plain = MILP(milp.A, milp.row_lower, milp.row_upper, milp.lower, milp.upper)
    rng = np.random.default_rng(1)
    costs = rng.normal(60.0, 20.0, size=(batch, milp.dimension))
    c = torch.tensor(-costs if milp.cost_map is None else costs @ milp.cost_map.toarray())
    c /= c.abs().max()
    weights = torch.tensor(rng.normal(size=c.shape))
    expected, expected_gradient = proxsuite_layer(plain, c, 0.01, weights)
    c.requires_grad_()
    solution = Relaxation(Problem(plain), QuadraticProgram(tau=0.01))(c)
    (solution * weights).sum().backward()
    assert (solution - expected).abs().max() < 1e-6
    error = (c.grad - expected_gradient).norm(dim=1) / expected_gradient.norm(dim=1)
    assert error.median() < 1e-4


def test_gradient_is_that_of_central_differences_on_the_knapsack():
    loss = QPTL(knapsack_problem(WEIGHTS, 120), tau=1.0, reduction="none")
    rng = np.random.default_rng(2)
    predicted, true = torch.tensor(rng.uniform(20, 200, size=(2, 8, 48)))
    solution = torch.zeros(8, 48, dtype=torch.float64)
    predicted.requires_grad_()
    (gradient,) = torch.autograd.grad(loss(predicted, true, solution).sum(), predicted)
    direction = torch.tensor(rng.normal(size=(8, 48)))
    step = 1e-4
    with torch.no_grad():
        difference = loss(predicted + step * direction, true, solution) - loss(
            predicted - step * direction, true, solution
        )
    numeric, exact = difference / (2 * step), (gradient * direction).sum(dim=1)
    error = (exact - numeric).abs() / numeric.abs().clamp(min=1e-3)
    assert error.median() < 1e-5


def test_loss_is_the_true_cost_of_the_relaxed_solution_above_the_optimum():
    problem = Problem(MILP([[1.0, 1.0]], row_upper=1.0))
    loss = QPTL(problem, tau=1.0, reduction="none")
    predicted, true = torch.tensor([[-1.0, -0.5]]), torch.tensor([[-1.0, -4.0]])
    # the relaxed solution at the prediction is (0.75, 0.25), the true optimum (0, 1)
    assert loss(predicted, true, torch.tensor([[0.0, 1.0]])).item() == pytest.approx(-0.75 - 1.0 + 4.0, abs=1e-6)


def test_senses_mirror_each_other():
    rng = np.random.default_rng(4)
    predicted, true = torch.tensor(rng.normal(size=(2, 5, 4)))
    solution = torch.zeros(5, 4, dtype=torch.float64)
    milp = MILP(rng.random((2, 4)), row_upper=1.0)
    least = QPTL(Problem(milp, sense="min"), tau=0.2)(predicted, true, solution)
    most = QPTL(Problem(milp, sense="max"), tau=0.2)(-predicted, -true, solution)
    assert least.item() == pytest.approx(most.item(), abs=1e-9)


def test_a_small_tau_has_no_gradient_where_a_moderate_one_has():
    problem = knapsack_problem(WEIGHTS, 120)
    rng = np.random.default_rng(5)
    true = torch.tensor(rng.uniform(50, 400, size=(16, 48)))
    sizes = []
    for tau in (1e-5, 1.0):
        predicted = (true * 0.9).requires_grad_()
        QPTL(problem, tau=tau)(predicted, true, torch.zeros_like(true)).backward()
        sizes.append(float((predicted.grad.abs() > 1e-3).sum()))
    assert sizes[0] < 0.2 * sizes[1]


def test_what_the_end_of_the_path_leaves_of_a_gradient_is_not_cut_off():
    """With the published tau of 1e-6, Adam trains from it on the energy problems; see docs/results.md."""
    problem, rng = Problem(energy_like()), np.random.default_rng(0)
    predicted, true = torch.tensor(rng.normal(60.0, 20.0, size=(2, 16, 48)))
    predicted.requires_grad_()
    QPTL(problem, tau=1e-6)(predicted, true, torch.zeros_like(true)).backward()
    assert (predicted.grad != 0).any(dim=1).all()


@pytest.mark.parametrize("tau", [0.0, -1.0])
def test_tau_must_be_positive(tau):
    with pytest.raises(InputError, match="tau"):
        QPTL(knapsack_problem(WEIGHTS, 120), tau=tau)


def test_a_problem_without_a_model_is_refused():
    with pytest.raises(InputError, match="no model"):
        QPTL(Problem(oracle=lambda c: c, dimension=3))


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


def test_senses_of_interior_mirror_each_other():
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


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_lead_over_the_relaxed_solution_at_the_error(kind):
    kind = KINDS[kind]
    b = batch(kind, seed=1)
    loss = SmoothedContrastive(kind.problem(), tau=0.5, reduction="none")
    values, _ = value_and_gradient(loss, b)
    p, c = kind.to_minimization(b.predicted), kind.to_minimization(b.true)
    relaxed = loss.relaxation(p, b.instance)
    torch.testing.assert_close(values, ((p - c) * (b.solution - relaxed)).sum(1))


def test_it_has_a_gradient_where_the_regret_has_none():
    # At a corner of the relaxation the solution does not move.
    kind = KINDS["plain"]
    b = batch(kind, seed=2)
    predicted = -50.0 * b.true
    _, of_regret = QPTL(kind.problem(), tau=0.01).loss_and_gradient(predicted, b.true, b.solution)
    _, gradient = SmoothedContrastive(kind.problem(), tau=0.01).loss_and_gradient(predicted, b.true, b.solution)
    still = of_regret.abs().amax(dim=1) < 1e-6
    assert still.any()
    assert (gradient[still].abs().amax(dim=1) > 0.01).any()


def test_it_needs_a_positive_tau_and_a_model():
    with pytest.raises(InputError, match="tau must be a finite number above 0, got 0"):
        SmoothedContrastive(KINDS["plain"].problem(), tau=0.0)
    with pytest.raises(InputError, match="needs the constraints"):
        SmoothedContrastive(Problem(oracle=lambda c: c, dimension=2))
