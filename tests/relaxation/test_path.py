from __future__ import annotations

import torch

from regretless.milp import MILP
from regretless.relaxation.path import BACK_OFF, follow, longest
from regretless.relaxation.presolve import presolve


def test_longest_step_stops_where_the_first_value_would_be_zero():
    value = torch.tensor([[1.0, 4.0], [1.0, 1.0]])
    change = torch.tensor([[-2.0, -1.0], [3.0, 0.0]])
    assert longest(value, change).flatten().tolist() == [0.5, float(torch.tensor(1.0) / BACK_OFF)]


def test_quadratic_programme_on_a_simplex_is_a_projection():
    _, form = presolve(MILP([[1.0, 1.0, 1.0]], row_lower=1.0, row_upper=1.0))
    point, done = follow(form, torch.tensor([[-0.7, -0.5, 0.9]], dtype=torch.float64), 1.0, 0.0)
    assert bool(done.all())
    torch.testing.assert_close(point.z, torch.tensor([[0.6, 0.4, 0.0]], dtype=torch.float64), rtol=0, atol=1e-8)


def test_products_of_a_barrier_point_all_equal_mu():
    _, form = presolve(MILP([[3.0, 4.0, 5.0]], row_upper=7.0))
    point, done = follow(form, torch.tensor([[-3.0, -1.0, 2.0]], dtype=torch.float64), 0.0, 0.25)
    assert bool(done.all())
    torch.testing.assert_close(point.below * point.low, 0.25 * form.has_lower[None])
    torch.testing.assert_close(point.above * point.high, 0.25 * form.has_upper[None])


def test_scaling_the_objective_does_not_move_the_solution():
    _, form = presolve(MILP([[3.0, 4.0, 5.0]], row_upper=7.0))
    c = torch.tensor([[-3.0, -1.0, -2.0]], dtype=torch.float64)
    one, _ = follow(form, c, 0.5, 0.0)
    other, _ = follow(form, c * 1e6, 0.5e6, 0.0)
    torch.testing.assert_close(one.z, other.z, rtol=0, atol=1e-8)
    torch.testing.assert_close(one.y * 1e6, other.y, rtol=1e-6, atol=1e-2)
