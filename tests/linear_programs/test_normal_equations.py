from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.linear_programs.constraint_system import ConstraintSystem
from regretless.linear_programs.normal_equations import NormalEquations
from regretless.linear_programs.standard_form import StandardForm
from regretless.milp import MILP


def residuals(form: StandardForm, H: torch.Tensor, r: torch.Tensor, s: torch.Tensor) -> float:
    dz, dy = NormalEquations(form, H).solve(r, s)
    first = H * dz - form.transposed(dy) - r
    return max(first.abs().max().item(), (form.apply(dz) - s).abs().max().item())


@pytest.mark.parametrize("free", [0, 1, 3])
def test_solutions_fulfil_both_equations(free):
    rng = np.random.default_rng(free)
    lower = np.r_[np.full(free, -np.inf), np.zeros(8 - free)]
    upper = np.r_[np.full(free, np.inf), np.ones(8 - free)]
    milp = MILP(
        rng.normal(size=(4, 8)), row_lower=[0.0, 0.0, -1.0, -np.inf], row_upper=[0, 0, 1, 1], lower=lower, upper=upper
    )
    form = StandardForm.of(ConstraintSystem.of(milp))
    assert len(form.free) == free
    H = torch.tensor(rng.uniform(0.1, 10, size=(5, 10)))
    H[:, form.free] = 0.0
    assert residuals(form, H, torch.tensor(rng.normal(size=(5, 10))), torch.tensor(rng.normal(size=(5, 4)))) < 1e-9


def test_a_singular_matrix_is_solved_without_harm_to_the_others():
    form = StandardForm.of(ConstraintSystem.of(MILP([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]], row_lower=1.0, row_upper=1.0)))
    H = torch.tensor([[1.0, 1.0, 1.0], [1.0, 1e300, 1e300]], dtype=torch.float64)  # the rows differ in what cannot move
    r, s = torch.zeros(2, 3, dtype=torch.float64), form.apply(torch.tensor([[1.0, 0.0, 0.0]] * 2, dtype=torch.float64))
    dz, _ = NormalEquations(form, H).solve(r, s)
    torch.testing.assert_close(form.apply(dz), s, rtol=0, atol=1e-6)
    alone, _ = NormalEquations(form, H[:1]).solve(r[:1], s[:1])
    torch.testing.assert_close(dz[:1], alone)


def test_damping_is_added_to_the_matrix_of_the_rows_as_given():
    form = StandardForm.of(ConstraintSystem.of(MILP([[3.0, 4.0]], row_lower=1.0, row_upper=1.0)))
    H, r = torch.tensor([[0.5, 2.0]], dtype=torch.float64), torch.tensor([[1.0, -1.0]], dtype=torch.float64)
    dz, _ = NormalEquations(form, H, damping=0.7).solve(r)
    a, D = np.array([3.0, 4.0]), np.array([2.0, 0.5])
    y = -(a * D) @ np.array([1.0, -1.0]) / ((a * D) @ a + 0.7)
    np.testing.assert_allclose(dz[0].numpy(), D * (np.array([1.0, -1.0]) + a * y))
