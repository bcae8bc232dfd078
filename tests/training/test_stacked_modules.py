"""Modules that are not simply batched: frozen weights, buffers, batch normalization, branches on values."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import Tensor, nn

from regretless.errors import RegretlessWarning
from regretless.training.stacked_modules import StackedModules

K, D, SETTINGS = 3, 2, 2
X = torch.randn(12, K, generator=torch.Generator().manual_seed(0))
INDEX = torch.tensor([[0, 3, 5, 1], [7, 2, 2, 11]])


class Counting(nn.Module):
    """Counts its calls in a buffer, as a module that follows statistics does."""

    calls: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(K, D)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += x.abs().sum()
        return self.linear(x) + self.calls


class Branching(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(K, D)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x)
        return y if bool(y.sum() > 0) else 2 * y


def normalized() -> nn.Module:
    return nn.Sequential(nn.Linear(K, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, D))


def models(make) -> list[nn.Module]:
    """Two models with different weights and, where they keep any, different statistics."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        made = [make() for _ in range(2)]
        for model in made:
            model.train()
            for _ in range(3):
                model(torch.randn(20, K) * 3 + 1)
    return [model.eval() for model in made]


def assert_copies(stack: StackedModules, made: list[nn.Module]) -> None:
    for f, model in enumerate(made):
        everything = stack.predict_with(stack.parameters, f)
        for s in range(SETTINGS):
            torch.testing.assert_close(everything[s], model(X))
            torch.testing.assert_close(stack.export(stack.parameters, f, s)(X), model(X))


def test_batch_normalization_keeps_the_statistics_of_each_stream():
    made = models(normalized)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stack = StackedModules([[one] for one in made], X, [0] * SETTINGS)
    assert_copies(stack, made)
    predicted = stack.predict([0, 1], INDEX)
    for f, model in enumerate(made):
        torch.testing.assert_close(predicted[f, 0], model(X[INDEX[f]]))
    torch.testing.assert_close(stack.predict([1], INDEX[1:])[0, 1], made[1](X[INDEX[1]]))


def test_modules_that_cannot_be_batched_are_computed_one_by_one():
    made = models(Branching)
    with pytest.warns(RegretlessWarning, match="copies of this Branching cannot be computed at once"):
        stack = StackedModules([[one] for one in made], X, [0] * SETTINGS)
    assert_copies(stack, made)
    predicted = stack.predict([0, 1], INDEX)
    for f, model in enumerate(made):
        torch.testing.assert_close(predicted[f, 1], model(X[INDEX[f]]))


@pytest.mark.parametrize("way", ["_at_once", "_one_by_one"])
def test_what_a_call_writes_into_a_buffer_no_other_call_sees(way):
    made = models(Counting)
    stack = StackedModules([[one] for one in made], X, [0] * SETTINGS)
    stack._predict = getattr(stack, way)
    first, second = stack.predict([0, 1], INDEX), stack.predict([0, 1], INDEX)
    for f, model in enumerate(made):
        expected = model(X[INDEX[f]])
        for predicted in (first, second):
            torch.testing.assert_close(predicted[f], expected.expand(SETTINGS, -1, -1))


def test_one_by_one_has_the_predictions_and_gradients_of_a_batch():
    made = models(normalized)
    batched, looped = (StackedModules([[one] for one in made], X, [0] * SETTINGS) for _ in range(2))
    looped._predict = looped._one_by_one
    torch.testing.assert_close(looped.predict([0, 1], INDEX), batched.predict([0, 1], INDEX))
    direction = torch.randn(2, SETTINGS, 4, D, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(looped.gradients(direction), batched.gradients(direction))


def test_frozen_parameters_keep_the_values_of_each_stream():
    made = models(lambda: nn.Sequential(nn.Linear(K, 4), nn.Tanh(), nn.Linear(4, D)))
    for model in made:
        model[0].requires_grad_(False)
    stack = StackedModules([[one] for one in made], X, [0] * SETTINGS)
    assert set(stack.parameters) == {"2.weight", "2.bias"}
    assert_copies(stack, made)
    assert not stack.export(stack.parameters, 1, 0)[0].weight.requires_grad


def test_the_test_of_batching_draws_no_random_numbers():
    model = nn.Sequential(nn.Linear(K, 4), nn.Dropout(0.5), nn.Linear(4, D))
    before = torch.get_rng_state()
    StackedModules([[model]], X, [0] * SETTINGS)
    assert torch.equal(torch.get_rng_state(), before)
