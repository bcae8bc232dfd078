from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless.training.linear_pass import linear_pass
from regretless.training.models import SharedLinear, make_model


def flat() -> torch.Tensor:
    return torch.randn(6, 5, generator=torch.Generator().manual_seed(1))


def slots() -> torch.Tensor:
    return torch.randn(6, 4, 3, generator=torch.Generator().manual_seed(2))


MODELS = {
    "linear": (lambda: nn.Linear(5, 4), flat),
    "without bias": (lambda: nn.Linear(5, 4, bias=False), flat),
    "in a sequence": (lambda: nn.Sequential(nn.Linear(5, 4)), flat),
    "shared": (lambda: SharedLinear(3), slots),
    "made for instances": (lambda: make_model(flat(), 4), flat),
    "made for variables": (lambda: make_model(slots(), 4), slots),
}


@pytest.mark.parametrize("name", MODELS)
def test_predictions_and_gradients_are_those_of_autograd(name):
    make, features = MODELS[name]
    torch.manual_seed(0)
    model, x = make(), features()
    slope = torch.randn(6, 4, generator=torch.Generator().manual_seed(3))
    wanted = model(x)
    wanted.backward(slope)
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    by_hand = linear_pass(model)
    assert by_hand is not None
    predicted = by_hand.predict(x)
    assert predicted.is_leaf
    assert predicted.requires_grad
    assert torch.allclose(predicted, wanted, rtol=1e-6, atol=1e-6)
    by_hand.pull(slope)
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        assert parameter.grad.shape == parameter.shape
        assert torch.allclose(parameter.grad, gradient, rtol=1e-5, atol=1e-6)


def test_a_prediction_follows_weights_that_were_changed_in_place():
    model, x = nn.Linear(5, 4), flat()
    by_hand = linear_pass(model)
    model.load_state_dict({name: torch.zeros_like(value) for name, value in model.state_dict().items()})
    assert by_hand is not None
    assert not by_hand.predict(x).any()


def hooked_weight() -> nn.Module:
    model = nn.Linear(5, 4)
    model.weight.register_hook(lambda gradient: 0 * gradient)
    return model


def hooked_module() -> nn.Module:
    model = nn.Sequential(nn.Linear(5, 4))
    model[0].register_forward_hook(lambda *_: None)
    return model


def frozen() -> nn.Module:
    model = nn.Linear(5, 4)
    model.bias.requires_grad_(requires_grad=False)
    return model


def patched() -> nn.Module:
    model = nn.Linear(5, 4)
    model.forward = lambda x: 0.0 * x[:, :4]
    return model


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


@pytest.mark.parametrize(
    "make",
    [
        hooked_weight,
        hooked_module,
        frozen,
        patched,
        lambda: Doubled(5, 4),
        lambda: nn.utils.parametrizations.weight_norm(nn.Linear(5, 4)),
        lambda: nn.Sequential(nn.Linear(5, 4), nn.ReLU()),
        lambda: nn.Sequential(nn.Linear(5, 4), nn.Flatten(0)),
        lambda: make_model(flat(), 4, kind="mlp"),
    ],
)
def test_what_is_more_than_a_linear_layer_is_left_to_autograd(make):
    assert linear_pass(make()) is None
