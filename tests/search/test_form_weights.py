from __future__ import annotations

import pytest
import torch

from regretless.search.form_weights import weights_of

ROWS = torch.tensor([1, 3, 5, 7])


def solved(looked_up, wrong=0.0):
    return looked_up[:, ROWS] + wrong


def test_equal_forms_have_equal_weights():
    same = torch.rand(1, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).repeat(3, 1)
    assert weights_of(same, solved(same), ROWS).tolist() == pytest.approx([1 / 3] * 3)


def test_the_weight_falls_to_zero_at_two_standard_errors():
    noise = torch.tensor([-1.0, 1.0] * 4, dtype=torch.float64)
    error = float(noise.std()) / 8**0.5
    for errors, expected in ((0.0, 0.5), (1.0, 1 / 3), (1.9, 0.05 / 1.05), (2.1, 0.0)):
        forms = torch.stack([torch.zeros_like(noise), noise + errors * error])
        assert weights_of(forms, solved(forms), ROWS)[1].item() == pytest.approx(expected)


def test_what_look_ups_are_wrong_by_is_added_with_its_own_error():
    forms = torch.zeros(2, 8, dtype=torch.float64)
    wrong = torch.tensor([[0.0] * 4, [1.0, 1.0, 1.0, 1.0]], dtype=torch.float64)
    assert weights_of(forms, solved(forms, wrong), ROWS).tolist() == [1.0, 0.0]
    wrong[1] = torch.tensor([1.0, -1.0, 3.0, 1.0])
    error = float(wrong[1].std()) / 2
    weight = 1 - 1 / (2 * error)
    assert weights_of(forms, solved(forms, wrong), ROWS)[1].item() == pytest.approx(weight / (1 + weight))


def test_instances_that_no_solve_answered_are_left_out():
    forms = torch.stack([torch.zeros(8), torch.ones(8)]).double()
    wrong = torch.tensor([[0.0, torch.nan, 0.0, 0.0], [-2.0, 9.0, -2.0, -2.0]], dtype=torch.float64)
    assert weights_of(forms, solved(forms, wrong), ROWS).tolist() == [0.0, 1.0]
    nothing = torch.full((2, 4), torch.nan, dtype=torch.float64)
    assert weights_of(forms, nothing, ROWS).tolist() == [1.0, 0.0], "look-ups decide"
