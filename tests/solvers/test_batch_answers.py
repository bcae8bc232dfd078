from __future__ import annotations

import numpy as np
import torch
from scipy import sparse

from regretless import MILP
from regretless.solvers.answers import answer_check
from regretless.solvers.batch_answers import BatchAnswerCheck, sparse_or_dense


def test_a_batch_is_checked_as_single_answers_are():
    rng = np.random.default_rng(0)
    milp = MILP(rng.integers(-2, 3, size=(4, 6)), row_lower=-2.0, row_upper=3.0, upper=2.0, integer=False)
    x = rng.uniform(-0.5, 2.5, size=(400, 6))
    x[::2] = np.clip(x[::2], 0, 2)
    x[:20] = np.clip(x[:20], 0, 2) * 0.1 - 1e-5  # bounds that are violated within the tolerance
    point, good = BatchAnswerCheck(milp, torch.device("cpu")).settled(torch.as_tensor(x))
    alone = [answer_check(milp).settled(row) for row in x]
    assert good.tolist() == [row is not None for row in alone]
    assert 20 <= int(good.sum()) < 400
    for row, other in zip(point[good].numpy(), (row for row in alone if row is not None), strict=True):
        assert np.array_equal(row, other)


def test_nan_is_no_answer():
    check = BatchAnswerCheck(MILP([[1.0]], row_upper=1.0, integer=False), torch.device("cpu"))
    assert check.settled(torch.tensor([[torch.nan]], dtype=torch.float64))[1].tolist() == [False]


def test_a_matrix_is_sparse_where_few_entries_are_not_zero():
    thin = sparse.eye_array(50).tocsr()
    assert sparse_or_dense(thin).is_sparse
    assert torch.equal(sparse_or_dense(thin).to_dense(), torch.eye(50, dtype=torch.float64))
    assert not sparse_or_dense(sparse.csr_array(np.ones((3, 3)))).is_sparse
