from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.training.initial_model import initial_model
from regretless.training.linear_model import find_linear

DATA = Dataset(torch.randn(6, 3), torch.randn(6, 2).double(), torch.zeros(6, 2).double())


def test_a_model_is_returned_as_it_is_and_a_function_is_called_with_the_seed():
    model = nn.Linear(3, 2)
    assert initial_model(model, DATA, 2, 7) is model
    assert initial_model(lambda seed: nn.Linear(3, seed), DATA, 2, 7).out_features == 7


def test_the_weights_of_a_function_that_ignores_its_seed_follow_it():
    before = torch.get_rng_state()
    first, second, other = (initial_model(lambda _: nn.Linear(3, 2), DATA, 2, seed).weight for seed in (1, 1, 2))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_default_is_linear():
    assert find_linear(initial_model(None, DATA, 2, 0)) is not None


class Net(nn.Linear):
    """A class that takes a number, which is not a seed."""

    def __init__(self, features: int = 3) -> None:
        super().__init__(features, 2)


@pytest.mark.parametrize("given", [nn.Linear, Net])
def test_a_class_is_named_and_not_called_with_the_seed(given):
    with pytest.raises(InputError, match=rf"got the class {given.__name__}: pass an object of it, {given.__name__}\("):
        initial_model(given, DATA, 2, 3)


@pytest.mark.parametrize(
    ("given", "what"), [("linear", "got 'linear'"), (lambda seed: "x", "returned 'x'"), (3, "got 3")]
)
def test_anything_else_is_named(given, what):
    with pytest.raises(InputError, match=f"model must be a torch module.* {what}"):
        initial_model(given, DATA, 2, 0)
