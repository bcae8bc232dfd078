from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless.training.linear_model import find_linear
from regretless.training.model_terms import with_terms
from regretless.training.models import SharedLinear, make_model
from regretless.training.scaling import with_cost_scale
from regretless.training.terms import Intercepts

CHANCE = torch.Generator().manual_seed(0)
X2, X3 = torch.randn(9, 4, generator=CHANCE) * 3 + 1, torch.randn(9, 5, 4, generator=CHANCE)
COSTS = torch.randn(9, 5, dtype=torch.float64, generator=CHANCE) * 100 + 40
MODELS = {
    "layer": (lambda: nn.Linear(4, 5), X2),
    "layer without bias": (lambda: nn.Linear(4, 5, bias=False), X2),
    "sequence": (lambda: nn.Sequential(nn.Linear(4, 5)), X2),
    "shared": (lambda: SharedLinear(4), X3),
    "standardized": (lambda: make_model(X2, 5), X2),
    "standardized, shared": (lambda: make_model(X3, 5), X3),
    "scaled costs": (lambda: make_model(X2, 5, costs=COSTS), X2),
    "scaled costs, shared": (lambda: make_model(X3, 5, costs=COSTS), X3),
    "scaled costs, intercepts": (lambda: make_model(X3, 5, costs=COSTS, intercepts=True), X3),
    "intercepts without bias": (lambda: nn.Sequential(nn.Linear(4, 1, bias=False), nn.Flatten(), Intercepts(5)), X3),
    "one cost": (lambda: nn.Sequential(nn.Linear(4, 1), nn.Flatten()), X2),
    "a grid of costs": (lambda: nn.Sequential(nn.Linear(4, 1), nn.Flatten()), torch.randn(9, 2, 3, 4)),
    "quadratic": (lambda: make_model(X2, 5, kind="quadratic"), X2),
    "quadratic, scaled costs, shared": (lambda: make_model(X3, 5, costs=COSTS, kind="quadratic"), X3),
    "splines": (lambda: make_model(X2, 5, kind="splines"), X2),
    "splines, scaled costs, shared": (lambda: make_model(X3, 5, costs=COSTS, kind="splines"), X3),
    "products and splines": (lambda: with_terms(make_model(X3, 5), X3, ["products", "splines", "intercepts"]), X3),
    "quadratic, intercepts": (lambda: make_model(X3, 5, kind="quadratic", intercepts=True), X3),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_linear_model_predicts_what_was_set(name):
    make, x = MODELS[name]
    model = make()
    view = find_linear(model)
    assert view is not None
    out, k = view.layer.weight.shape
    weight = torch.randn(out, k)
    bias = torch.randn(out if view.intercepts is None else 5) if view.has_bias else None
    view.set(weight, bias)
    expected = view.inputs(x) @ weight.T
    expected = (expected.squeeze(-1) if view.shared else expected) + (0.0 if bias is None else bias)
    torch.testing.assert_close(model(x), expected, rtol=1e-4, atol=1e-4)
    for found, given in zip(view.map(), (weight, bias), strict=True):
        if given is None:
            assert found is None
        else:
            torch.testing.assert_close(found, given.double(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "model",
    [
        nn.Sequential(nn.Linear(4, 5), nn.ReLU()),
        nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 5)),
        make_model(X2, 5, kind="mlp"),
        make_model(X3, 5, kind="mlp", intercepts=True),
        nn.Sequential(nn.Linear(4, 5), Intercepts(5)),  # two constants per cost
        with_cost_scale(nn.Linear(4, 5, bias=False), COSTS, shared=False),  # a constant that is not trained
    ],
)
def test_other_models_are_not_linear(model):
    assert find_linear(model) is None


@pytest.mark.parametrize("frozen", [0, 1, 2])
def test_a_model_that_is_partly_frozen_is_not_linear(frozen):
    model = make_model(X3, 5, intercepts=True)
    list(model.parameters())[frozen].requires_grad_(False)
    assert find_linear(model) is None


def test_the_terms_of_a_model_have_names():
    models = [make_model(X3, 5, kind=kind, intercepts=own) for own in (False, True) for kind in ("linear", "quadratic")]
    views = [find_linear(model) for model in models]
    assert [view.terms for view in views] == [(), ("products",), ("intercepts",), ("products", "intercepts")]
    assert [view.plain_inputs for view in views] == [4, 4, 4, 4]


def test_features_come_before_products_and_products_before_splines():
    view = find_linear(with_terms(make_model(X3, 5), X3, ["splines", "products"]))
    assert view.terms == ("products", "splines")
    assert (view.plain_inputs, view.columns) == (4, {"products": slice(4, 14), "splines": slice(14, 38)})
    assert find_linear(make_model(X3, 5, kind="splines")).columns == {"splines": slice(4, 28)}
    torch.testing.assert_close(view.inputs(X3)[..., :14], find_linear(make_model(X3, 5, kind="quadratic")).inputs(X3))
