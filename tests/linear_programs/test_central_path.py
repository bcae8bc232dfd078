from __future__ import annotations

import pytest
import torch

from regretless.errors import SolveError
from regretless.linear_programs import central_path
from regretless.linear_programs.central_path import BACK_OFF, follow_path, longest_step
from regretless.linear_programs.presolve import presolve
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.energy.formulation import formulate
from regretless.problems.energy.load import energy_instance
from regretless.relaxation import QuadraticProgram, Relaxation


def test_longest_step_stops_where_the_first_value_would_be_zero():
    value = torch.tensor([[1.0, 4.0], [1.0, 1.0]])
    change = torch.tensor([[-2.0, -1.0], [3.0, 0.0]])
    assert longest_step(value, change).flatten().tolist() == [0.5, float(torch.tensor(1.0) / BACK_OFF)]


def test_quadratic_program_on_a_simplex_is_a_projection():
    _, form = presolve(MILP([[1.0, 1.0, 1.0]], row_lower=1.0, row_upper=1.0))
    point, done = follow_path(form, torch.tensor([[-0.7, -0.5, 0.9]], dtype=torch.float64), 1.0, 0.0)
    assert bool(done.all())
    torch.testing.assert_close(point.z, torch.tensor([[0.6, 0.4, 0.0]], dtype=torch.float64), rtol=0, atol=1e-8)


def test_products_of_a_barrier_point_all_equal_mu():
    _, form = presolve(MILP([[3.0, 4.0, 5.0]], row_upper=7.0))
    point, done = follow_path(form, torch.tensor([[-3.0, -1.0, 2.0]], dtype=torch.float64), 0.0, 0.25)
    assert bool(done.all())
    torch.testing.assert_close(point.below * point.low, 0.25 * form.has_lower[None])
    torch.testing.assert_close(point.above * point.high, 0.25 * form.has_upper[None])


def test_scaling_the_objective_does_not_move_the_solution():
    _, form = presolve(MILP([[3.0, 4.0, 5.0]], row_upper=7.0))
    c = torch.tensor([[-3.0, -1.0, -2.0]], dtype=torch.float64)
    one, _ = follow_path(form, c, 0.5, 0.0)
    other, _ = follow_path(form, c * 1e6, 0.5e6, 0.0)
    torch.testing.assert_close(one.z, other.z, rtol=0, atol=1e-8)
    torch.testing.assert_close(one.y * 1e6, other.y, rtol=1e-6, atol=1e-2)


# Predicted prices at which one product stays behind the others for good, unless the path is centered again.
SWINGING = [
    -0.842589, -0.868820, -0.905090, -0.855758, -0.839755, -0.782559, -0.800249, -0.808383, -0.819021, -0.804365,
    -0.849742, -0.886868, -0.949035, -0.919043, -0.907992, -0.713552, -0.514058, -0.315657, -0.258198, -0.216247,
    -0.186876, -0.187946, -0.170287, -0.149267, -0.148997, -0.127223, -0.123141, -0.169013, -0.151216, -0.154009,
    -0.154769, -0.132388, -0.132953, -0.103821, -0.085675, -0.073555, -0.082368, -0.212801, -0.259902, -0.325933,
    -0.369625, -0.414746, -0.427895, -0.443788, -0.445054, -0.430801, -0.503362, -0.501459,
]  # fmt: skip


@pytest.mark.data
def test_a_point_with_one_product_far_from_the_others_is_centered_and_converges(monkeypatch):
    problem = Problem(formulate(energy_instance("energy-2")))
    cost = torch.tensor([SWINGING], dtype=torch.float64)
    relaxation = Relaxation(problem, QuadraticProgram(tau=0.1))
    assert torch.isfinite(relaxation(cost)).all()
    monkeypatch.setattr(central_path, "SCATTERED", torch.inf)
    with pytest.raises(SolveError, match="did not converge"):
        relaxation(cost)
