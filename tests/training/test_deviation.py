from __future__ import annotations

import torch

from regretless.training.deviation import deviation_or_one


def test_it_is_the_deviation_over_a_dimension_or_over_all() -> None:
    values = torch.tensor([[1.0, 5.0], [3.0, 9.0]], dtype=torch.float64)
    assert deviation_or_one(values, dim=0).tolist() == [1.0, 2.0]
    assert float(deviation_or_one(values)) == float(values.std(correction=0))


def test_what_is_constant_has_deviation_one() -> None:
    values = torch.tensor([[2.0, 5.0], [2.0, 9.0]])
    assert deviation_or_one(values, dim=0).tolist() == [1.0, 2.0]
    assert float(deviation_or_one(torch.full((3, 2), 7.0))) == 1.0
