from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.linear_programs.presolve import presolve
from regretless.milp import MILP
from regretless.relaxation.smoothed_programs import BarrierProgram, QuadraticProgram
from regretless.types import Status

SEEDS = st.integers(0, 100_000)
FEWER = settings(max_examples=settings().max_examples // 2)  # each example solves several programs


def solve(model: MILP, program, costs: np.ndarray):
    system, form = presolve(model)
    smooth = program.solve(form, torch.tensor(costs[:, system.keep]))
    assert smooth.status is None, smooth.message
    x = np.repeat(system.offset[None], len(costs), axis=0)
    x[:, system.keep] += smooth.x.numpy()
    return x, form


@FEWER
@given(seed=SEEDS, scale=st.sampled_from([1e-2, 1.0, 1e3]), tau=st.sampled_from([1e-3, 0.1, 1.0, 10.0]))
def test_quadratic_solution_is_optimal_for_its_own_gradient(random_model, minimum, seed, scale, tau):
    model = random_model(seed)
    costs = np.random.default_rng(seed).normal(size=(3, 7)) * scale
    x, _ = solve(model, QuadraticProgram(tau=tau), costs)
    assert model.relax().check(x).all()
    for c, point in zip(costs, x, strict=True):
        # a convex function is at its minimum where no feasible direction falls
        gradient = c + tau * point
        assert gradient @ point - minimum(model, gradient) <= 1e-6 * max(1.0, np.abs(gradient).max())


@FEWER
@given(seed=SEEDS, scale=st.sampled_from([1e-2, 1.0, 1e3]), cutoff=st.sampled_from([1e-7, 1e-3, 0.1, 1.0]))
def test_barrier_point_exceeds_the_optimum_by_at_most_the_cutoff_per_bound(random_model, minimum, seed, scale, cutoff):
    model = random_model(seed)
    costs = np.random.default_rng(seed).normal(size=(3, 7)) * scale
    x, form = solve(model, BarrierProgram(cutoff=cutoff * scale), costs)
    assert model.relax().check(x).all()
    bounds = float(form.has_lower.sum() + form.has_upper.sum())
    for c, point in zip(costs, x, strict=True):
        above = c @ point - minimum(model, c)
        # the multipliers of the central path prove c . x - cutoff * bounds as a lower bound
        assert -1e-7 * scale <= above <= (cutoff * bounds + 1e-7) * scale


@pytest.mark.parametrize("tau", [0.0, -1.0, float("nan"), float("inf"), "1", None, True])
def test_tau_must_be_positive(tau):
    with pytest.raises(InputError, match="tau must be a finite number above 0"):
        QuadraticProgram(tau=tau)


@pytest.mark.parametrize("cutoff", [0.0, -1.0, float("nan"), "1", None])
def test_cutoff_must_be_positive(cutoff):
    with pytest.raises(InputError, match="cutoff must be a finite number above 0"):
        BarrierProgram(cutoff=cutoff)


@pytest.mark.parametrize("damping", [-0.1, "0"])
def test_damping_must_not_be_negative(damping):
    with pytest.raises(InputError, match="damping must be a finite number, at least 0"):
        BarrierProgram(cutoff=1.0, damping=damping)


def test_an_optimum_without_end_is_an_error_of_its_instance_only():
    _, form = presolve(MILP([[1.0, -1.0]], row_upper=1.0, upper=np.inf))
    smooth = BarrierProgram(cutoff=0.1).solve(form, torch.tensor([[1.0, 1.0], [0.0, 0.0], [-1.0, 0.5]]).double())
    assert smooth.status == [Status.OPTIMAL, Status.ERROR, Status.UNBOUNDED]
    assert torch.isfinite(smooth.x[0]).all()
    assert "finite bounds" in smooth.message[1]


def test_free_variables_are_solved_by_the_barrier_too():
    # min x + y with x free, y in [0, 1] and x - y = 1: the barrier sees y only, c . x = 1 + 2 y
    _, form = presolve(MILP([[1.0, -1.0]], row_lower=1.0, row_upper=1.0, lower=[-np.inf, 0.0], upper=[np.inf, 1.0]))
    smooth = BarrierProgram(cutoff=1.0).solve(form, torch.ones(1, 2, dtype=torch.float64))
    y = 1.0 - np.sqrt(0.5)  # 2 = 1 / y - 1 / (1 - y)
    np.testing.assert_allclose(smooth.x[0].numpy(), [1.0 + y, y], atol=1e-7)


def test_costs_without_an_optimum_are_told_from_those_without_a_minimum_of_the_barrier():
    _, form = presolve(MILP([[1.0, -1.0]], row_upper=1.0, upper=np.inf))
    costs = torch.tensor([[1.0, 1.0], [-2.0, 1.0], [-1.0, 1.0]], dtype=torch.float64)
    found = BarrierProgram(cutoff=1.0).solve(form, costs)  # the embedding ends before it has a proof
    assert found.status == [Status.OPTIMAL, Status.UNBOUNDED, Status.ERROR]
    assert "no optimum" in found.message.pop(1)
    assert "use finite bounds" in found.message.pop(2)
    assert not found.message
