from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.linear_programs.constraint_system import ConstraintSystem
from regretless.linear_programs.self_dual import solve_self_dual
from regretless.linear_programs.standard_form import StandardForm
from regretless.milp import MILP
from regretless.types import Status


def form_of(model: MILP) -> StandardForm:
    return StandardForm.of(ConstraintSystem.of(model).reduced())


@pytest.mark.parametrize("seed", range(6))
def test_the_end_of_the_path_is_the_optimum_of_highs(random_model, minimum, seed):
    model = random_model(seed, hard=False)
    costs = np.random.default_rng(seed).normal(size=(4, 7)) * 10
    form = form_of(model)
    point, status = solve_self_dual(form, torch.tensor(costs))
    assert status == [Status.OPTIMAL] * 4
    values = (costs * point.z[:, :7].numpy()).sum(axis=1)
    np.testing.assert_allclose(values, [minimum(model, c) for c in costs], rtol=1e-6, atol=1e-6)
    reduced = torch.nn.functional.pad(torch.tensor(costs), (0, len(form.lower) - 7)) - form.transposed(point.y)
    torch.testing.assert_close(point.low - point.high, reduced, rtol=1e-6, atol=1e-6)


def test_the_path_is_left_under_the_cutoff():
    form = form_of(MILP([[1.0, 2.0, 3.0]], row_upper=3.0))
    costs = torch.tensor([[-3.0, -4.0, -5.0]], dtype=torch.float64)
    for cutoff in (1.0, 1e-2, 1e-5):
        point, status = solve_self_dual(form, costs, cutoff=cutoff)
        assert status == [Status.OPTIMAL]
        assert 0.0 < point.mu(form).item() <= cutoff


def test_infeasible_programs_are_proved_so():
    form = form_of(MILP([[1.0, 1.0], [1.0, -1.0]], row_lower=[1.9, 0.5], row_upper=[3.0, 1.0]))
    _, status = solve_self_dual(form, torch.zeros(1, 2, dtype=torch.float64))
    assert status == [Status.INFEASIBLE]


def test_unbounded_programs_are_proved_so_beside_bounded_ones():
    form = form_of(MILP([[1.0, -1.0]], row_upper=1.0, upper=np.inf))
    costs = torch.tensor([[-2.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    _, status = solve_self_dual(form, costs)
    assert status == [Status.UNBOUNDED, Status.OPTIMAL]
