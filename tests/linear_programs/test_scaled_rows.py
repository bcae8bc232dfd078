from __future__ import annotations

import numpy as np
import torch

from regretless import MILP
from regretless.linear_programs.scaled_rows import ScaledRows


def test_scaling_changes_units_and_nothing_else(random_model):
    model = random_model(0)
    rows = ScaledRows.of(model)
    A = rows.A.to_dense()
    assert torch.allclose(A, rows.transposed.to_dense().T)
    assert np.allclose(A.numpy(), rows.row.numpy() * model.A.toarray() * rows.column.numpy().T)
    x = torch.as_tensor(np.random.default_rng(0).uniform(size=(model.n, 1)))
    assert torch.allclose((rows.A @ (x / rows.column)) / rows.row, torch.as_tensor(model.A @ x.numpy()))
    assert torch.equal(torch.isinf(rows.row_low[:, 0]), torch.as_tensor(np.isinf(model.row_lower)))


def test_rows_of_very_different_size_become_alike():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(6, 9)) * 10.0 ** rng.integers(-4, 5, size=(6, 1))
    scaled = ScaledRows.of(MILP(A, row_upper=1.0, integer=False)).A.to_dense().abs()
    assert float(scaled.sum(dim=1).max() / scaled.sum(dim=1).min()) < 10


def test_the_norm_is_a_bound(random_model):
    for seed in range(5):
        rows = ScaledRows.of(random_model(seed))
        assert float(torch.linalg.matrix_norm(rows.A.to_dense(), 2)) <= rows.norm * (1 + 1e-12)


def test_the_size_is_one_plus_the_largest_finite_bound_of_a_row():
    assert ScaledRows.of(MILP([[2.0, 1.0], [1.0, 3.0]], row_lower=[-3.0, -np.inf], row_upper=[2.0, 1.0])).size == 4.0


def test_a_model_without_rows_has_a_scale():
    rows = ScaledRows.of(MILP(np.zeros((0, 3)), integer=False))
    assert rows.norm == 1.0
    assert rows.size == 1.0
