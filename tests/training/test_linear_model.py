from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless.training.linear_model import find_linear
from regretless.training.models import SharedLinear, make_model

X2, X3 = torch.randn(9, 4) * 3 + 1, torch.randn(9, 5, 4)
COSTS = torch.randn(9, 5, dtype=torch.float64) * 100 + 40
MODELS = {
    "layer": (lambda: nn.Linear(4, 5), X2),
    "layer without bias": (lambda: nn.Linear(4, 5, bias=False), X2),
    "sequence": (lambda: nn.Sequential(nn.Linear(4, 5)), X2),
    "shared": (lambda: SharedLinear(4), X3),
    "standardized": (lambda: make_model(X2, 5), X2),
    "standardized, shared": (lambda: make_model(X3, 5), X3),
    "scaled costs": (lambda: make_model(X2, 5, costs=COSTS), X2),
    "scaled costs, shared": (lambda: make_model(X3, 5, costs=COSTS), X3),
    "quadratic": (lambda: make_model(X2, 5, kind="quadratic"), X2),
    "quadratic, scaled costs, shared": (lambda: make_model(X3, 5, costs=COSTS, kind="quadratic"), X3),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_linear_model_predicts_what_was_set(name):
    make, x = MODELS[name]
    model = make()
    view = find_linear(model)
    assert view is not None
    out, k = view.layer.weight.shape
    weight = torch.randn(out, k)
    bias = None if view.layer.bias is None else torch.randn(out)
    view.set(weight, bias)
    expected = view.inputs(x) @ weight.T + (0.0 if bias is None else bias)
    torch.testing.assert_close(model(x), expected.squeeze(-1) if view.shared else expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "model",
    [
        nn.Sequential(nn.Linear(4, 5), nn.ReLU()),
        nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 5)),
        make_model(X2, 5, kind="mlp"),
    ],
)
def test_other_models_are_not_linear(model):
    assert find_linear(model) is None
