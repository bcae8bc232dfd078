from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from regretless.errors import InputError
from regretless.tensors import (
    features_tensor,
    hash_of,
    ids,
    in_dtype,
    pullback,
    rows_at,
    scalar,
    tensor,
    with_gradient,
    without_graph,
    write_rows,
)


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
def test_numbers_of_any_type_are_the_same_tensor(value: Any) -> None:
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
def test_what_is_not_a_number_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="costs must be numbers, got"):
        tensor("costs", value)


@pytest.mark.parametrize("value", [[0, 2, 1], np.array([0.0, 2.0, 1.0]), torch.tensor([0, 2, 1]), pd.Series([0, 2, 1])])
def test_ids_are_integers(value: Any) -> None:
    out = ids(value)
    assert out is not None
    assert out.dtype == torch.int64
    assert out.tolist() == [0, 2, 1]


def test_no_ids_stay_none() -> None:
    assert ids(None) is None


@pytest.mark.parametrize("value", [[0.5, 1.0], [np.nan, 1.0], [np.inf], [True, False]])
def test_ids_that_would_have_to_be_rounded_are_refused(value: Any) -> None:
    with pytest.raises(InputError, match="instance must be integers, got"):
        ids(value)


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="costs must be real numbers, got complex128"):
        tensor("costs", np.ones(2) + 1j)


def test_features_have_the_precision_of_a_model_unless_they_are_a_tensor_of_numbers() -> None:
    for value in ([[True], [False]], np.ones((2, 1)), np.ones((2, 1), dtype=np.int8), torch.ones(2, dtype=torch.bool)):
        assert features_tensor(value).dtype == torch.float32
    for dtype in (torch.int64, torch.float64, torch.float16):
        assert features_tensor(torch.ones(2, dtype=dtype)).dtype == dtype
    with pytest.raises(InputError, match="features must be numbers"):
        features_tensor(["a"])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("number", [-1 / 24, 3.7, 0.0, 24])
def test_a_scalar_gives_the_bits_of_the_number(number: float, dtype: torch.dtype) -> None:
    values = 1e3 * torch.randn(500, dtype=dtype)
    made = scalar(number, values)
    assert isinstance(made, torch.Tensor)
    assert made.dtype == dtype
    assert torch.equal(values * made, values * number)
    assert torch.equal(values + made, values + number)
    if number:
        assert torch.equal(values / made, values / number)


def test_only_another_type_is_converted() -> None:
    values = torch.ones(3)
    assert in_dtype(values, torch.float32) is values
    assert in_dtype(values, torch.float64).dtype == torch.float64


def test_complex_tensors_are_refused_as_complex_arrays_are():
    for given in (torch.ones(2, dtype=torch.complex64), np.ones(2, dtype=complex)):
        with pytest.raises(InputError, match=r"costs must be real numbers, got .*complex"):
            tensor("costs", given)


def test_a_hash_tells_values_shapes_types_and_order_apart() -> None:
    one, two = torch.arange(4.0), torch.zeros(2)
    same = hash_of([one, two])
    assert hash_of([one.clone(), two.clone()]) == same
    others = ([two, one], [one + 1e-6, two], [one.reshape(2, 2), two], [one.double(), two], [one])
    assert len({same, *map(hash_of, others)}) == 6


@pytest.mark.parametrize("given", [torch.float32, torch.float64])
def test_a_pullback_has_the_gradient_to_the_bit(given: torch.dtype) -> None:
    gradient = 1e3 * torch.randn(4, 3, dtype=given)
    output = torch.randn(3, 4, requires_grad=True)
    pullback(output.T, gradient).backward()
    assert torch.equal(output.grad, gradient.T.float())


@pytest.mark.parametrize("given", [{"a": np.zeros((2, 1))}, (np.zeros((2, 1)), np.zeros((2, 3)))])
def test_several_inputs_are_refused_with_how_to_pass_them(given):
    with pytest.raises(InputError, match=r"features must be one array, got a (dict|tuple): put several inputs"):
        features_tensor(given)


NUMBERS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_rows_are_read_at_their_positions_as_a_tensor_of_their_own(dtype: torch.dtype) -> None:
    values = torch.arange(12.0).view(3, 4).to(dtype)
    for given in (values, values.T.contiguous().T, values[:, 1:3]):
        found = rows_at(given, torch.tensor([2, 0, 2]))
        assert torch.equal(found, given[[2, 0, 2]])
        assert found.dtype == dtype
        found += 1
        assert torch.equal(values, torch.arange(12.0).view(3, 4).to(dtype))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("given", [*NUMBERS, torch.int64, torch.bool])
def test_rows_of_any_precision_are_written_at_their_positions(dtype: torch.dtype, given: torch.dtype) -> None:
    into, rows = torch.zeros(3, 2, dtype=dtype), torch.ones(2, 2).to(given)
    write_rows(into, torch.tensor([2, 0]), rows.requires_grad_(rows.is_floating_point()))
    assert into.tolist() == [[1, 1], [0, 0], [1, 1]]
    assert not into.requires_grad


def test_a_function_without_a_graph_leaves_the_mode_as_it_was() -> None:
    leaf = torch.ones(1, requires_grad=True)

    @without_graph
    def doubled(value: torch.Tensor, *, fail: bool = False) -> torch.Tensor:
        """Say what it does."""
        if fail:
            raise ValueError
        return 2 * value

    assert doubled.__doc__ == "Say what it does."
    for mode in (True, False):
        with torch.set_grad_enabled(mode):
            assert not doubled(leaf).requires_grad
            with pytest.raises(ValueError):
                doubled(leaf, fail=True)
            assert torch.is_grad_enabled() is mode


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("rows", [False, True])
def test_a_value_with_a_known_gradient_has_both_to_the_bit(dtype, rows):
    generator = torch.Generator().manual_seed(0)
    output = torch.randn(4, 3, generator=generator).to(dtype).requires_grad_()
    gradient = torch.randn(4, 3, generator=generator).to(dtype)
    value = torch.randn(4 if rows else (), generator=generator)  # in the precision of the loss
    found = with_gradient(output, value, gradient)
    assert torch.equal(found, value)
    assert found.dtype == value.dtype
    upstream = torch.tensor([1.0, 2.0, 0.0, -4.0]) if rows else torch.tensor(2.0)
    (got,) = torch.autograd.grad(found, output, upstream)
    assert torch.equal(got, gradient * (upstream[:, None] if rows else upstream).to(dtype))


def test_a_value_has_no_graph_where_none_is_built():
    value, output = torch.tensor(1.0), torch.ones(2, 2, requires_grad=True)
    with torch.no_grad():
        assert with_gradient(output, value, torch.ones(2, 2)) is value
    assert with_gradient(output.detach(), value, torch.ones(2, 2)) is value
