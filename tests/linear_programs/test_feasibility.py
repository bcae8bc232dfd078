from __future__ import annotations

import numpy as np

from regretless import MILP
from regretless.linear_programs.feasibility import is_feasible


def test_feasible_and_infeasible_sets_are_told_apart():
    assert is_feasible(MILP([[1.0, 1.0]], row_lower=1.5)) is True
    assert is_feasible(MILP([[1.0, 1.0]], row_lower=2.5)) is False
    assert is_feasible(MILP(np.zeros((0, 2)))) is True


def test_an_unbounded_set_is_feasible():
    assert is_feasible(MILP([[1.0, -1.0]], row_lower=3.0, upper=np.inf)) is True
    assert is_feasible(MILP([[1.0, 1.0]], row_upper=3.0, lower=-np.inf)) is True
