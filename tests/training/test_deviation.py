from __future__ import annotations

import pytest
import torch

from regretless.training.deviation import deviation_or_one, moments
from regretless.training.models import make_model


def test_it_is_the_deviation_over_a_dimension_or_over_all() -> None:
    values = torch.tensor([[1.0, 5.0], [3.0, 9.0]], dtype=torch.float64)
    assert deviation_or_one(values, dim=0).tolist() == [1.0, 2.0]
    assert float(deviation_or_one(values)) == float(values.std(correction=0))


def test_what_is_constant_has_deviation_one() -> None:
    values = torch.tensor([[2.0, 5.0], [2.0, 9.0]])
    assert deviation_or_one(values, dim=0).tolist() == [1.0, 2.0]
    assert float(deviation_or_one(torch.full((3, 2), 7.0))) == 1.0


@pytest.mark.parametrize("value", [0.0, 0.1, -1e8 / 3, 1e-5 / 3, 1e30])
def test_what_is_constant_has_deviation_one_whatever_its_size(value: float) -> None:
    values = torch.full((97, 1), value, dtype=torch.float64)
    assert deviation_or_one(values, dim=0).tolist() == [1.0]
    assert float(deviation_or_one(values)) == 1.0
    assert float(make_model(values, 2).scale) == 1.0


@pytest.mark.parametrize("size", [1e-20, 1.0, 1e20])
def test_the_deviation_follows_the_unit(size: float) -> None:
    values = torch.tensor([[1.0], [1.1], [1.2]], dtype=torch.float64)
    assert float(deviation_or_one(size * values)) == pytest.approx(size * float(deviation_or_one(values)))


def test_what_the_precision_of_models_does_not_distinguish_is_constant() -> None:
    values = 1.0 + torch.tensor([0.0, 1e-10], dtype=torch.float64)
    assert float(deviation_or_one(values)) == 1.0
    try:
        torch.set_default_dtype(torch.float64)
        assert float(deviation_or_one(values)) == pytest.approx(5e-11, rel=1e-3)
    finally:
        torch.set_default_dtype(torch.float32)


def test_moments_are_those_of_the_columns_over_all_rows() -> None:
    rows, mean, scale = moments(torch.tensor([[[1.0, 7.0]], [[5.0, 7.0]]]))
    assert rows.dtype == torch.float64
    assert (rows.tolist(), mean.tolist(), scale.tolist()) == ([[1.0, 7.0], [5.0, 7.0]], [3.0, 7.0], [2.0, 1.0])
