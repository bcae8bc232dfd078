"""What only the stack of linear models does; ``test_stacking`` has what all stacks have in common."""

from __future__ import annotations

import torch
from torch import nn

from regretless.training.model_terms import with_terms
from regretless.training.models import make_model
from regretless.training.stacked_linear import StackedLinear
from regretless.training.stacked_models import StackedAdam

CHANCE = torch.Generator().manual_seed(0)
X = torch.randn(12, 3, generator=CHANCE) * 4 + 2
COSTS = torch.randn(12, 5, generator=CHANCE, dtype=torch.float64) * 50 + 20
INDEX = torch.tensor([[7, 2, 2, 11]])


def models() -> list[nn.Module]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return [nn.Linear(3, 5) for _ in range(2)]


def test_some_streams_can_be_left_out():
    made = models()
    stack = StackedLinear([[one] for one in made], X, COSTS, [0, 0])
    torch.testing.assert_close(stack.predict([1], INDEX)[0, 0], made[1](X[INDEX[0]]), rtol=1e-4, atol=1e-3)
    assert stack.gradients(torch.ones(1, 2, 4, 5))["weight"].shape[0] == 1


def test_a_step_does_not_depend_on_the_units_of_features_and_costs():
    """The same step of the weights of the stack changes the costs by the same share of their deviation."""
    changes = []
    for feature, cost in ((1.0, 1.0), (1000.0, 0.01)):
        zero = nn.Linear(3, 5)
        nn.init.zeros_(zero.weight)
        nn.init.zeros_(zero.bias)
        stack = StackedLinear([[zero]], X * feature, COSTS * cost, [0])
        before = stack.predict_with(stack.parameters, 0)
        stack.parameters["weight"] += 0.1
        changes.append((stack.predict_with(stack.parameters, 0) - before) / (COSTS * cost).std(correction=0))
    torch.testing.assert_close(changes[1], changes[0], rtol=1e-3, atol=1e-3)


def test_a_constant_feature_does_no_harm():
    x = torch.cat([X, torch.ones(12, 1)], dim=1)
    model = nn.Linear(4, 5)
    stack = StackedLinear([[model]], x, COSTS, [0])
    torch.testing.assert_close(stack.predict_with(stack.parameters, 0)[0], model(x), rtol=1e-3, atol=1e-2)


def test_every_setting_starts_from_the_model_that_it_names():
    first, second = models()
    stack = StackedLinear([[first, second]], X, COSTS, [1, 0])
    found = stack.predict_with(stack.parameters, 0)
    torch.testing.assert_close(found, torch.stack([second(X), first(X)]), rtol=1e-3, atol=1e-2)


def test_a_setting_without_products_leaves_their_weights_alone():
    model = make_model(X, 5, kind="quadratic", seed=1)
    stack = StackedLinear([[model]], X, COSTS, [0, 0], [None, ()])
    adam = StackedAdam(stack.parameters, stack.units, torch.tensor([0.1, 0.1]))
    before = stack.parameters["weight"].clone()
    stack.predict([0], INDEX)
    adam.step([0], stack.gradients(torch.randn(1, 2, 4, 5)))
    moved = (stack.parameters["weight"] != before)[0].any(dim=1)
    assert moved[0].all()
    assert moved[1].tolist() == [True] * 3 + [False] * 6 + [True]  # features, terms, bias


def test_a_setting_moves_the_weights_of_its_own_terms():
    model = with_terms(make_model(X, 5, seed=1), X, ["products", "splines"])
    stack = StackedLinear([[model]], X, COSTS, [0, 0], [("products",), ("splines",)])
    adam = StackedAdam(stack.parameters, stack.units, torch.tensor([0.1, 0.1]))
    before = stack.parameters["weight"].clone()
    stack.predict([0], torch.arange(12)[None])
    adam.step([0], stack.gradients(torch.randn(1, 2, 12, 5)))
    moved = (stack.parameters["weight"] != before)[0].any(dim=1)
    assert moved[0].tolist() == [True] * 9 + [False] * 18 + [True]  # features and products, splines, bias
    assert moved[1].tolist() == [True] * 3 + [False] * 6 + [True] * 19


def test_a_setting_without_intercepts_leaves_them_alone():
    x = torch.randn(20, 5, 3)
    model = make_model(x, 5, costs=COSTS, kind="quadratic", intercepts=True, seed=1)
    stack = StackedLinear([[model]], x, COSTS, [0, 0, 0], [None, ("products",), ("intercepts",)])
    adam = StackedAdam(stack.parameters, stack.units, torch.full((3,), 0.1))
    before = {name: value.clone() for name, value in stack.parameters.items()}
    stack.predict([0], INDEX[:1])
    adam.step([0], stack.gradients(torch.randn(1, 3, 4, 5)))
    moved = {name: (value != before[name])[0] for name, value in stack.parameters.items()}
    assert moved["intercepts"].tolist() == [[True] * 5, [False] * 5, [True] * 5]
    assert moved["weight"].sum(dim=(1, 2)).tolist() == [10, 10, 4]  # 3 features, 6 products, bias
