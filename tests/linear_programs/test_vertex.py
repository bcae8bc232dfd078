from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from regretless import MILP
from regretless.linear_programs.interior_point import Iterate, solve_interior
from regretless.linear_programs.presolve import presolve
from regretless.linear_programs.vertex import GRAIN, to_vertex


def vertices(model, costs):
    system, form = presolve(model)
    end, done, _ = solve_interior(form, torch.as_tensor(costs[:, system.keep]))
    assert bool(done.all())
    x = np.tile(system.offset, (len(costs), 1))
    x[:, system.keep] += to_vertex(form, end).numpy()
    return x


def test_a_unique_optimum_is_the_vertex_of_the_simplex_method():
    rng = np.random.default_rng(0)
    rows = rng.random((6, 25))
    costs = -rng.random((8, 25))
    found = vertices(MILP(rows, row_upper=3.0, integer=False), costs)
    for x, c in zip(found, costs, strict=True):
        best = linprog(c, A_ub=rows, b_ub=np.full(6, 3.0), bounds=(0, 1), method="highs-ds").x
        assert np.abs(x - best).max() <= 2 / GRAIN
        assert np.array_equal(np.round(x * GRAIN), x * GRAIN)
        assert np.array_equal(np.isin(x, (0.0, 1.0)), np.isclose(best, 0.0) | np.isclose(best, 1.0))


def test_a_degenerate_vertex_is_exact():
    """An assignment problem has far fewer positive variables than rows."""
    k = 5
    rows = np.zeros((2 * k, k * k))
    for i in range(k):
        rows[i, i * k : (i + 1) * k] = rows[k + i, i::k] = 1.0
    costs = np.random.default_rng(1).random((6, k * k))
    found = vertices(MILP(rows, row_lower=1.0, row_upper=1.0, integer=False), costs)
    assert set(np.unique(found)) == {0.0, 1.0}
    assert (rows @ found.T == 1.0).all()


def test_among_several_optima_the_answer_is_feasible_and_optimal():
    model = MILP([[1.0, 1.0, 1.0]], row_upper=1.5, integer=False)
    (x,) = vertices(model, np.full((1, 3), -1.0))
    assert np.isclose(x.sum(), 1.5, atol=1e-8)
    assert bool(model.check(x, 1e-9).all())


@pytest.mark.parametrize(
    "active",
    [
        (0, 1, 5),  # both variables at zero and the slack at its upper bound: the row is violated
        (3, 4, 2),  # both variables at one and the slack at its lower bound: so it is, in the other direction
        (0, 5),  # the first variable at zero and the slack at its upper bound: the second exceeds its bound
        (3, 2),  # the first variable at one and the slack at its lower bound: the second falls below its bound
    ],
)
def test_a_projection_that_leaves_the_rows_or_bounds_is_not_used(active):
    _, form = presolve(MILP([[1.0, 1.0]], row_lower=0.5, row_upper=1.5, integer=False))
    z = torch.tensor([[0.7, 0.7, 1.4]], dtype=torch.float64) / torch.tensor([1.0, 1.0, 2.0**0.5], dtype=torch.float64)
    distance, multiplier = torch.ones(1, 6, dtype=torch.float64), torch.zeros(1, 6, dtype=torch.float64)
    multiplier[0, active] = 2.0
    end = Iterate(z, torch.zeros(1, 1, dtype=torch.float64), distance, multiplier)
    assert torch.allclose(to_vertex(form, end), z[:, :2], atol=1e-9)
