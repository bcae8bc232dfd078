from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless.errors import InputError
from regretless.training.models import SharedLinear, make_model
from regretless.training.stacked_linear import StackedLinear
from regretless.training.stacked_models import Setting
from regretless.training.stacked_modules import StackedModules
from regretless.training.stacking import stack_models

N, D, K = 12, 5, 3
CHANCE = torch.Generator().manual_seed(0)
X2, X3 = torch.randn(N, K, generator=CHANCE) * 4 + 2, torch.randn(N, D, K, generator=CHANCE)
COSTS = torch.randn(N, D, generator=CHANCE, dtype=torch.float64) * 50 + 20
MODELS = {
    "linear": (lambda: nn.Linear(K, D), X2),
    "linear without bias": (lambda: nn.Linear(K, D, bias=False), X2),
    "shared": (lambda: SharedLinear(K), X3),
    "scaled": (lambda: make_model(X2, D, costs=COSTS), X2),
    "scaled, shared": (lambda: make_model(X3, D, costs=COSTS), X3),
    "quadratic": (lambda: make_model(X2, D, costs=COSTS, kind="quadratic"), X2),
    "quadratic, shared": (lambda: make_model(X3, D, costs=COSTS, kind="quadratic"), X3),
    "intercepts": (lambda: make_model(X3, D, costs=COSTS, intercepts=True), X3),
    "quadratic, intercepts": (lambda: make_model(X3, D, costs=COSTS, kind="quadratic", intercepts=True), X3),
    "perceptron": (lambda: make_model(X2, D, kind="mlp", hidden=4), X2),
}
INDEX = torch.tensor([[0, 3, 5, 1], [7, 2, 2, 11]])


@pytest.fixture(autouse=True)
def _seeded():
    """The same models whatever ran before: a finite difference must not cross the kink of a perceptron."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


def different(make):
    models = [make() for _ in range(2)]
    with torch.no_grad():
        for model in models:
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter))
    return models


@pytest.mark.parametrize("name", MODELS)
def test_every_copy_predicts_what_its_model_predicts(name):
    make, x = MODELS[name]
    models = different(make)
    stack = stack_models(models, x, COSTS, [Setting(0, 0.1)] * 3)
    assert isinstance(stack, StackedModules if name == "perceptron" else StackedLinear)
    predicted = stack.predict([0, 1], INDEX)
    for f, model in enumerate(models):
        for s in range(3):
            torch.testing.assert_close(predicted[f, s], model(x[INDEX[f]]), rtol=1e-4, atol=1e-3)
            torch.testing.assert_close(stack.predict_with(stack.parameters, f)[s], model(x), rtol=1e-4, atol=1e-3)
            exported = stack.export(stack.parameters, f, s)
            torch.testing.assert_close(exported(x), model(x), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_the_predictions(name):
    make, x = MODELS[name]
    stack = stack_models(different(make), x, COSTS, [Setting(0, 0.1)] * 2)
    direction = torch.randn(2, 2, 4, D)
    stack.predict([0, 1], INDEX)
    gradients = stack.gradients(direction)
    for key, value in stack.parameters.items():
        step = torch.randn_like(value)
        value.add_(step, alpha=1e-2)
        high = (stack.predict([0, 1], INDEX) * direction).sum()
        value.sub_(step, alpha=2e-2)
        low = (stack.predict([0, 1], INDEX) * direction).sum()
        value.add_(step, alpha=1e-2)
        torch.testing.assert_close((high - low) / 2e-2, (gradients[key] * step).sum(), rtol=2e-2, atol=0.5)


def test_modules_too_start_from_the_model_that_a_setting_names():
    first, second = make_model(X2, 5, kind="mlp", seed=1), make_model(X2, 5, kind="mlp", seed=2)
    stack = stack_models([[first, second]], X2, COSTS, [Setting(0, 0.1, start=1), Setting(0, 0.1)])
    torch.testing.assert_close(stack.predict_with(stack.parameters, 0), torch.stack([second(X2), first(X2)]))


def test_only_linear_models_can_use_some_of_their_terms():
    with pytest.raises(InputError, match="needs a linear model"):
        stack_models([make_model(X2, 5, kind="mlp")], X2, COSTS, [Setting(0, 0.1, terms=())])
