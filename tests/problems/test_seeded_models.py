from __future__ import annotations

import pickle

import torch
from torch import nn

from regretless.problems.seeded_models import SharedLinear, seeded, shared_linear


def test_one_layer_serves_all_slots():
    model = SharedLinear(8)
    x = torch.randn(5, 48, 8)
    assert torch.allclose(model(x), model.linear(x)[..., 0], atol=1e-6)
    assert model(x).shape == (5, 48)
    assert sum(parameter.numel() for parameter in model.parameters()) == 9


def test_its_gradient_is_that_of_the_layer():
    model, x = SharedLinear(3).double(), torch.randn(4, 6, 3, dtype=torch.float64)
    mine = torch.autograd.grad(model(x).square().sum(), list(model.parameters()))
    its = torch.autograd.grad(model.linear(x).square().sum(), list(model.parameters()))
    assert all(torch.allclose(a, b) for a, b in zip(mine, its, strict=True))


def test_the_seed_decides_the_weights_and_the_global_generator_is_left_alone():
    make = shared_linear(8)
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    first, second, other = make(1), make(1), make(2)
    assert torch.equal(torch.rand(2), expected)
    assert torch.equal(first.linear.weight, second.linear.weight)
    assert not torch.equal(first.linear.weight, other.linear.weight)


def test_weights_are_those_of_torch():
    torch.manual_seed(7)
    plain = nn.Linear(8, 1)
    assert torch.equal(shared_linear(8)(7).linear.weight, plain.weight)


def test_any_model_can_be_seeded_and_the_maker_pickled():
    assert torch.equal(seeded(lambda: nn.Linear(2, 2), 3).weight, seeded(lambda: nn.Linear(2, 2), 3).weight)
    assert torch.equal(pickle.loads(pickle.dumps(shared_linear(4)))(1).linear.weight, shared_linear(4)(1).linear.weight)
