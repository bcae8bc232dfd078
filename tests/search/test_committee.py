from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless.errors import InputError
from regretless.search.committee import Committee, merge
from regretless.training.models import SharedLinear, make_model

CHANCE = torch.Generator().manual_seed(0)
X2, X3 = torch.randn(8, 3, generator=CHANCE), torch.randn(8, 5, 3, generator=CHANCE)
COSTS = torch.randn(8, 5, dtype=torch.float64, generator=CHANCE) * 30 + 9
WEIGHTS = torch.tensor([0.2, 0.3, 1.5])


@pytest.mark.parametrize(
    ("make", "x"),
    [
        (lambda seed: make_model(X2, 5, costs=COSTS, seed=seed), X2),
        (lambda seed: make_model(X3, 5, costs=COSTS, seed=seed), X3),
        (lambda seed: make_model(X2, 5, seed=seed), X2),
        (lambda seed: SharedLinear(3), X3),
        (lambda seed: nn.Linear(3, 5, bias=False), X2),
    ],
)
def test_a_committee_of_linear_models_is_one_linear_model(make, x):
    members = [make(seed) for seed in range(3)]
    merged = merge(members, WEIGHTS)
    assert type(merged) is type(members[0])
    expected = sum(w * member(x) for w, member in zip(WEIGHTS, members, strict=True))
    torch.testing.assert_close(merged(x), expected, rtol=1e-4, atol=1e-4)


def test_a_committee_of_other_models_averages_their_predictions_and_can_be_saved():
    members = [make_model(X2, 5, kind="mlp", seed=seed) for seed in range(3)]
    merged = merge(members, WEIGHTS)
    assert isinstance(merged, Committee)
    torch.testing.assert_close(merged(X2), sum(w * m(X2) for w, m in zip(WEIGHTS, members, strict=True)))
    blank = Committee([make_model(X2, 5, kind="mlp", seed=9) for _ in range(3)], torch.ones(3))
    blank.load_state_dict(merged.state_dict())
    torch.testing.assert_close(blank(X2), merged(X2))


def test_one_member_of_weight_one_is_itself_and_of_another_weight_is_scaled():
    (member,) = members = [make_model(X2, 5, kind="mlp")]
    assert merge(members, torch.ones(1)) is member
    for kind in ("mlp", "linear"):
        member = make_model(X2, 5, kind=kind)
        torch.testing.assert_close(merge([member], torch.tensor([2.0]))(X2), 2 * member(X2))


def test_a_committee_needs_one_weight_per_member():
    with pytest.raises(InputError, match="one weight per member, got 2 and 1"):
        Committee([nn.Linear(1, 1)], torch.ones(2))
