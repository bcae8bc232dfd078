from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from regretless.errors import InputError
from regretless.tensors import as_tensor, epsilon, exp_, ids, like, row_minima, tensor, view


@pytest.mark.parametrize(
    "value",
    [
        [[1.0, 2.0], [3.0, 4.0]],
        np.array([[1.0, 2.0], [3.0, 4.0]]),
        np.array([[1.0, 3.0], [2.0, 4.0]]).T,
        np.array([[3.0, 4.0], [1.0, 2.0]])[::-1],
        np.array([[1.0, 2.0], [3.0, 4.0]], dtype=object),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True),
        pd.DataFrame({"a": [1.0, 3.0], "b": [2.0, 4.0]}),
        pd.DataFrame({"a": [1.0, 3.0], "b": pd.array([2.0, 4.0], dtype="Float64")}),
    ],
)
def test_numbers_in_any_dress_are_the_same_tensor(value: Any) -> None:
    out = tensor("costs", value)
    assert torch.equal(out, torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64))
    assert not out.requires_grad


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_])
def test_the_kind_of_number_is_kept(dtype: Any) -> None:
    assert tensor("features", np.ones(2, dtype=dtype)).numpy().dtype == dtype


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.filterwarnings("error")
def test_the_callers_array_is_copied_even_when_it_is_read_only(frozen: bool) -> None:
    array = np.zeros(3)
    array.flags.writeable = not frozen
    out = tensor("costs", array)
    out += 1.0
    assert array.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "value",
    [
        "text",
        ["a", "b"],
        [[1.0], [1.0, 2.0]],
        None,
        object(),
        np.array(["2020-01-01"], dtype="M8[D]"),
        pd.Series([pd.NA]),
    ],
)
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="costs must be numbers, got"):
        tensor("costs", value)


@pytest.mark.parametrize("value", [[0, 2, 1], np.array([0.0, 2.0, 1.0]), torch.tensor([0, 2, 1]), pd.Series([0, 2, 1])])
def test_ids_are_whole_numbers(value: Any) -> None:
    out = ids(value)
    assert out is not None
    assert out.dtype == torch.int64
    assert out.tolist() == [0, 2, 1]


def test_no_ids_stay_none() -> None:
    assert ids(None) is None


@pytest.mark.parametrize("value", [[0.5, 1.0], [np.nan, 1.0], [np.inf], [True, False]])
def test_ids_that_would_have_to_be_rounded_are_refused(value: Any) -> None:
    with pytest.raises(InputError, match="instance must be whole numbers, got"):
        ids(value)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_view_is_the_same_memory(dtype: torch.dtype) -> None:
    values = torch.zeros(2, 3, dtype=dtype)
    array = view(values)
    assert array is not None
    array[1, 2] = 5.0
    assert float(values[1, 2]) == 5.0
    assert as_tensor(array).data_ptr() == values.data_ptr()
    assert as_tensor(values) is values


@pytest.mark.parametrize("values", [torch.zeros(2, dtype=torch.bfloat16), torch.zeros(2, device="meta")])
def test_what_numpy_cannot_have_has_no_view(values: torch.Tensor) -> None:
    assert view(values) is None


def test_values_take_on_kind_and_precision_of_others() -> None:
    values = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert like(values, torch.zeros(1)).dtype == torch.float32
    array = like(values, np.zeros(1, dtype=np.float32))
    assert isinstance(array, np.ndarray)
    assert array.dtype == np.float32
    assert array.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_arrays_and_tensors_are_worked_on_alike(dtype: torch.dtype) -> None:
    values = torch.tensor([[2.0, -1.0, 0.5], [4.0, 3.0, 5.0]], dtype=dtype)
    array = values.numpy().copy()
    assert row_minima(values).tolist() == row_minima(array).tolist() == [-1.0, 3.0]
    assert epsilon(values) == epsilon(array) == torch.finfo(dtype).eps
    powers = exp_(array)
    assert powers is array
    assert torch.allclose(exp_(values), torch.from_numpy(powers))
