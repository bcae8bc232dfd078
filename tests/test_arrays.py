from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.arrays import MOST_SHARES, as_array, as_tensor, dot, like, mean, times, with_ones


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_mean_is_that_of_torch(dtype: torch.dtype) -> None:
    values = torch.randn(5, 7, dtype=dtype)
    for one in (values[0], values[:, 3], values[0, :1], values[0].repeat(MOST_SHARES)):
        torch.testing.assert_close(mean(one), one.mean())
        torch.testing.assert_close(as_tensor(mean(one.numpy())), one.mean())
        assert mean(one).dtype == as_tensor(mean(one.numpy())).dtype == dtype
    values[0, 0] = torch.nan
    assert mean(values[0]).isnan()
    assert np.isnan(mean(values[0].numpy()))
    assert mean(values[0, :0]).isnan()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_arrays_give_what_tensors_give(dtype: torch.dtype) -> None:
    a, b = torch.randn(4, 6, dtype=dtype), torch.randn(4, 6, dtype=dtype)
    x, y = a.numpy(), b.numpy()
    torch.testing.assert_close(as_tensor(dot(x, y)), dot(a, b))
    assert torch.equal(as_tensor(times(x, 1 / 3)), times(a, 1 / 3))
    assert torch.equal(as_tensor(with_ones(x)), with_ones(a))
    assert as_tensor(with_ones(x)).dtype == dtype


def test_a_tensor_becomes_an_array_of_the_wanted_precision() -> None:
    values = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert like(np.zeros(1), values).dtype == np.float64
    assert like(np.zeros(1, np.float32), values).dtype == np.float32
    assert like(torch.zeros(1), values).dtype == torch.float32


def test_an_array_has_the_memory_of_its_tensor_also_where_it_has_a_gradient() -> None:
    values = torch.zeros(2, requires_grad=True)
    as_array(values)[0] = 3.0
    assert values.tolist() == [3.0, 0.0]
    back = as_tensor(as_array(values))
    assert back.data_ptr() == values.data_ptr()
