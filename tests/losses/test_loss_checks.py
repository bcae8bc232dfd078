from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError
from regretless.losses.loss_checks import refuse_result

COSTS = torch.zeros(3, 2)


@pytest.mark.parametrize(
    ("formula", "given", "said"),
    [
        ("per_instance", torch.zeros(2), r"a tensor of shape \(3,\), got \(2,\)"),
        ("per_instance", 1.5, r"a tensor of shape \(3,\), got float"),
        ("value_and_gradient", torch.zeros(3), r"tensors of shape \(3,\) and \(3, 2\), got \(3,\)"),
        (
            "value_and_gradient",
            (torch.zeros(3), None),
            r"tensors of shape \(3,\) and \(3, 2\), got \(3,\) and NoneType",
        ),
    ],
)
def test_the_message_has_the_loss_the_formula_and_both_shapes(formula: str, given: object, said: str) -> None:
    with pytest.raises(InputError, match=rf"^int\.{formula} must return one value per instance: expected {said}$"):
        refuse_result(0, formula, COSTS, given)
