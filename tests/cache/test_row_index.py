import itertools

import numpy as np
import pytest
import torch

from regretless.cache.row_index import RowIndex, normalized


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_keys_of_binary_rows_do_not_collide(dtype):
    rows = torch.tensor(list(itertools.product([0.0, 1.0], repeat=16)), dtype=dtype)
    wide = torch.zeros(len(rows), 48, dtype=dtype)
    wide[:, ::3] = rows
    assert len(set(RowIndex.keys(wide.numpy()))) == len(rows)


def test_equal_rows_have_equal_keys_however_they_lie_in_memory():
    rows = np.arange(6.0).reshape(3, 2)
    assert RowIndex.keys(rows) == RowIndex.keys(np.asfortranarray(rows))
    assert RowIndex.keys(rows[:0]) == []


def test_the_first_of_two_rows_with_one_key_is_found_until_it_is_forgotten():
    index = RowIndex()
    index.put([7, 7], [0, 1])
    assert index.find([7, 8]) == [0, None]
    index.forget([7], [1])
    assert index.find([7]) == [0]
    index.forget([7], [0])
    assert index.find([7]) == [None]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("given", [torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool])
def test_equal_solutions_have_equal_bytes_in_every_type_and_layout(given, dtype):
    solutions = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    zero = solutions.clone()
    zero[0, 0] = -0.0
    rows = [normalized(one.to(given), dtype) for one in (solutions, zero, solutions.T.contiguous().T)]
    assert rows[0].tolist() == solutions.tolist()
    assert len({row.tobytes() for row in rows}) == 1
    assert rows[0].dtype == torch.empty(0, dtype=dtype).numpy().dtype
    rows[0][:] = 7.0  # a copy
    assert solutions.max() == 1.0
