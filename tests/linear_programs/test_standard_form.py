from __future__ import annotations

import numpy as np
import torch

from regretless.linear_programs.constraint_system import ConstraintSystem
from regretless.linear_programs.standard_form import StandardForm
from regretless.milp import MILP


def dense(form: StandardForm) -> torch.Tensor:
    slacks = len(form.lower) - form.n
    right = torch.zeros(len(form.A), slacks, dtype=torch.float64)
    right[form.equalities :] = -torch.eye(slacks, dtype=torch.float64)
    return torch.cat([form.A, right], dim=1)


def test_equality_rows_come_first_and_have_no_slack():
    form = StandardForm.of(
        ConstraintSystem.of(MILP([[3.0, 4.0], [1.0, 0.0]], row_lower=[-np.inf, 1.0], row_upper=[10.0, 1.0]))
    )
    assert form.equalities == 1
    assert form.A.tolist() == [[1.0, 0.0], [0.6, 0.8]]
    assert form.b.tolist() == [1.0, 0.0]
    assert form.upper.tolist() == [1.0, 1.0, 2.0]
    assert form.has_lower.tolist() == [1.0, 1.0, 0.0]
    assert form.length.tolist() == [1.0, 5.0]


def test_products_are_those_of_the_full_matrix(random_model):
    form = StandardForm.of(ConstraintSystem.of(random_model(0, hard=False)))
    E = dense(form)
    rng = np.random.default_rng(0)
    z, y = torch.tensor(rng.normal(size=(3, E.shape[1]))), torch.tensor(rng.normal(size=(3, E.shape[0])))
    torch.testing.assert_close(form.apply(z), z @ E.T)
    torch.testing.assert_close(form.transposed(y), y @ E)
    torch.testing.assert_close(form.normal_matrix(z), torch.stack([E @ d.diag() @ E.T for d in z]))


def test_sparse_models_give_the_same_normal_matrix():
    # an assignment: two entries a column, where the product over pairs of entries pays
    A = np.vstack([np.kron(np.eye(12), np.ones((1, 12))), np.kron(np.ones((1, 12)), np.eye(12))])
    form = StandardForm.of(ConstraintSystem.of(MILP(A, row_upper=1.0)))
    assert form.pairs is not None
    E = dense(form)
    d = torch.tensor(np.random.default_rng(0).random((2, E.shape[1])))
    torch.testing.assert_close(form.normal_matrix(d), torch.stack([E @ row.diag() @ E.T for row in d]))


def test_the_start_lies_strictly_between_all_bounds(random_model):
    form = StandardForm.of(ConstraintSystem.of(random_model(4)).reduced())
    assert bool(((form.start > form.lower) | (form.has_lower == 0)).all())
    assert bool(((form.start < form.upper) | (form.has_upper == 0)).all())


def test_residuals_count_in_the_units_of_the_model_where_these_are_stricter():
    rows = [[3e6, 4e6], [0.0, 0.5], [3.0, 4.0]]
    model = MILP(rows, row_lower=[-np.inf, 3.0, -np.inf], row_upper=[0.0, 3.0, 99.0])
    form = StandardForm.of(ConstraintSystem.of(model))
    assert form.weights.tolist() == [1 / 7, 5e6, 1 / 7]
    assert form.steepest.tolist() == [3e6, 4e6]
