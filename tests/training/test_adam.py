from __future__ import annotations

import copy

import pytest
import torch

from regretless.errors import InputError
from regretless.training.adam import LeanAdam


def model() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))


def gradients(model: torch.nn.Module, step: int, skip: int | None = None) -> None:
    generator = torch.Generator().manual_seed(step)
    for k, parameter in enumerate(model.parameters()):
        parameter.grad = None if k == skip else torch.randn(parameter.shape, generator=generator)


def test_a_lean_step_is_a_step_bit_for_bit():
    lean, usual = model(), model()
    ours = LeanAdam(list(lean.parameters()), lr=0.1)
    theirs = torch.optim.Adam(usual.parameters(), lr=0.1, fused=True)
    for step in range(7):
        for net in (lean, usual):
            gradients(net, step, skip=1 if step == 0 else None)  # one parameter joins later
        if step == 4:
            ours.param_groups[0]["lr"] = theirs.param_groups[0]["lr"] = 0.01
        ours.lean_step()
        theirs.step()
        assert all(map(torch.equal, lean.parameters(), usual.parameters()))


def test_both_ways_can_be_mixed_and_the_state_is_torchs():
    one, other = model(), model()
    mixed = LeanAdam(list(one.parameters()), lr=0.1)
    plain = torch.optim.Adam(other.parameters(), lr=0.1, fused=True)
    for step in range(3):
        gradients(one, step)
        mixed.lean_step()
    other.load_state_dict(one.state_dict())
    plain.load_state_dict(copy.deepcopy(mixed.state_dict()))
    gradients(one, 9)
    gradients(other, 9)
    mixed.step()
    plain.step()
    assert all(map(torch.equal, one.parameters(), other.parameters()))


def test_a_second_group_has_its_own_learning_rate():
    net = model()
    first, second = net[0], net[1]
    optimizer = LeanAdam(list(first.parameters()), lr=0.1)
    optimizer.add_param_group({"params": list(second.parameters()), "lr": 1e-6})
    for step in range(3):
        gradients(net, step)
        before = [p.detach().clone() for p in net.parameters()]
        optimizer.lean_step()
    moved = [float((p.detach() - b).abs().max()) for p, b in zip(net.parameters(), before, strict=True)]
    assert min(moved[:2]) > 1e-3
    assert max(moved[2:]) < 1e-5


def test_a_group_that_has_no_gradient_stays_as_it_is():
    net = model()
    optimizer = LeanAdam(list(net[0].parameters()), lr=0.1)
    optimizer.add_param_group({"params": list(net[1].parameters())})
    before = [p.detach().clone() for p in net[1].parameters()]
    for step in range(3):
        gradients(net[0], step)
        optimizer.lean_step()
    assert all(map(torch.equal, net[1].parameters(), before))


@pytest.mark.parametrize("lr", [0.0, -1.0, float("nan")])
def test_a_learning_rate_that_is_not_positive_is_refused(lr):
    with pytest.raises(InputError, match="lr must be positive"):
        LeanAdam(list(model().parameters()), lr=lr)
