from __future__ import annotations

import numpy as np
import torch

from regretless import MILP
from regretless.linear_programs.feasibility import falls, is_feasible, rays


def test_feasible_and_infeasible_sets_are_told_apart():
    assert is_feasible(MILP([[1.0, 1.0]], row_lower=1.5)) is True
    assert is_feasible(MILP([[1.0, 1.0]], row_lower=2.5)) is False
    assert is_feasible(MILP(np.zeros((0, 2)))) is True


def test_an_unbounded_set_is_feasible():
    assert is_feasible(MILP([[1.0, -1.0]], row_lower=3.0, upper=np.inf)) is True
    assert is_feasible(MILP([[1.0, 1.0]], row_upper=3.0, lower=-np.inf)) is True


def test_a_ray_moves_the_unbounded_variables_alone_and_leaves_the_rows():
    model = MILP([[1.0, -1.0, 2.0]], row_upper=3.0, lower=[0.0, -np.inf, 1.0], upper=[1e20, 5.0, 2.0])
    found = rays(model)
    assert (found.lower.tolist(), found.upper.tolist()) == ([0.0, -1.0, 0.0], [1.0, 0.0, 0.0])
    assert (found.row_lower.tolist(), found.row_upper.tolist()) == ([-np.inf], [0.0])
    assert not found.integer.any()


def test_a_bounded_set_has_no_rays():
    assert rays(MILP([[1.0, 1.0]], row_upper=1.0)) is None


def test_costs_fall_along_a_ray_in_any_units():
    ray = torch.tensor([[1.0, 0.5]])
    for scale in (1e-9, 1.0, 1e9):
        assert falls(scale * torch.tensor([[-1.0, 1.0]]), ray).tolist() == [True]
        assert falls(scale * torch.tensor([[-0.5, 1.0]]), ray).tolist() == [False]
    assert falls(torch.zeros(1, 2), ray).tolist() == [False]
    assert falls(torch.tensor([[-1e-9, 1e-9], [-1.0, 1.0], [1.0, 1.0]]), ray).tolist() == [True, True, False]
