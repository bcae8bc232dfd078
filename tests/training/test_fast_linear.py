"""The fast step of one linear layer computes what autograd computes."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from regretless.training.fast_linear import LinearStep, linear_step
from regretless.training.lean_adam import LeanAdam
from regretless.training.models import SharedLinear, make_model
from regretless.training.scaling import with_cost_scale
from regretless.training.step import GradientStep, step_of


def flat() -> torch.Tensor:
    return torch.randn(6, 5, generator=torch.Generator().manual_seed(1))


def slots() -> torch.Tensor:
    return torch.randn(6, 4, 3, generator=torch.Generator().manual_seed(2))


def costs() -> torch.Tensor:
    return 50.0 + 3.0 * torch.randn(9, 4, generator=torch.Generator().manual_seed(4))


MODELS = {
    "linear": (lambda: nn.Linear(5, 4), flat),
    "without bias": (lambda: nn.Linear(5, 4, bias=False), flat),
    "in a sequence": (lambda: nn.Sequential(nn.Linear(5, 4)), flat),
    "shared": (lambda: SharedLinear(3), slots),
    "made for instances": (lambda: make_model(flat(), 4), flat),
    "made for variables": (lambda: make_model(slots(), 4), slots),
    "scaled costs": (lambda: with_cost_scale(nn.Linear(5, 4), costs(), shared=False), flat),
    "scaled features and costs": (lambda: with_cost_scale(make_model(slots(), 4), costs(), shared=True), slots),
}


def fast(model: nn.Module) -> LinearStep | None:
    return linear_step(model, LeanAdam(list(model.parameters()), lr=0.1))


@pytest.mark.parametrize("name", MODELS)
def test_steps_are_those_of_autograd(name):
    make, features = MODELS[name]
    torch.manual_seed(0)
    model, x = make(), features()
    other = copy.deepcopy(model)
    step, slow = fast(model), GradientStep(other, torch.optim.Adam(other.parameters(), lr=0.1, fused=True))
    assert step is not None
    for k in range(3):
        gradient = torch.randn(6, 4, generator=torch.Generator().manual_seed(k))
        predicted, expected = step.predict(x), slow.predict(x)
        assert not predicted.requires_grad
        assert torch.allclose(predicted, expected, rtol=1e-5, atol=1e-6)
        step.update(predicted, gradient)
        slow.update(expected, gradient)
        for mine, its in zip(model.parameters(), other.parameters(), strict=True):
            assert mine.grad.shape == mine.shape
            assert torch.allclose(mine.grad, its.grad, rtol=1e-5, atol=1e-6)
            assert torch.allclose(mine, its, rtol=1e-5, atol=1e-6)


def test_a_prediction_follows_weights_that_were_changed_in_place():
    model, x = nn.Linear(5, 4), flat()
    step = fast(model)
    model.load_state_dict({name: torch.zeros_like(value) for name, value in model.state_dict().items()})
    assert step is not None
    assert not step.predict(x).any()


def replace_data(model: nn.Module) -> None:
    for weight in model.parameters():
        weight.data = weight.data + 1


def replace_by_vector(model: nn.Module) -> None:
    nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(model.parameters()) + 1, model.parameters())


@pytest.mark.parametrize("replace", [replace_data, replace_by_vector, nn.Module.double])
@pytest.mark.parametrize(("make", "features"), [(lambda: nn.Linear(5, 4), flat), (lambda: SharedLinear(3), slots)])
def test_a_step_follows_weights_whose_memory_was_replaced(replace, make, features):
    model, x = make(), features()
    step = fast(model)
    replace(model)
    x = x.to(next(model.parameters()).dtype)
    predicted = step.predict(x)
    assert torch.equal(predicted, model(x))
    step.update(predicted, torch.ones_like(predicted))
    assert torch.allclose(step.predict(x), model(x))


@pytest.mark.parametrize("name", MODELS)
def test_an_empty_batch_has_empty_predictions(name):
    make, features = MODELS[name]
    model, x = make(), features()[:0]
    assert fast(model).predict(x).shape == model(x).shape == (0, 4)


def test_gradients_that_were_cleared_or_replaced_come_back():
    model, x = nn.Linear(5, 4), flat()
    step = fast(model)
    for clear in (model.zero_grad, lambda: setattr(model.weight, "grad", torch.full_like(model.weight, 7.0))):
        step.update(step.predict(x), torch.ones(6, 4))
        first = model.weight.grad.clone()
        clear()
        step.update(step.predict(x), torch.ones(6, 4))
        assert torch.equal(model.weight.grad, first)


def test_another_optimizer_is_left_to_autograd():
    model = nn.Linear(5, 4)
    assert linear_step(model, torch.optim.Adam(model.parameters(), lr=0.1)) is None


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
    assert fast(make()) is None


@pytest.mark.parametrize("shape", [(7, 3), (7, 2, 3, 3)])
def test_a_flattened_layer_takes_features_of_any_shape(shape):
    torch.manual_seed(0)
    x = torch.randn(shape)
    net = nn.Sequential(nn.Linear(3, 1), nn.Flatten())
    its = copy.deepcopy(net)
    gradient = torch.randn_like(net(x))
    fast = linear_step(net, LeanAdam(list(net.parameters()), 0.1))
    slow = GradientStep(its, LeanAdam(list(its.parameters()), 0.1))
    assert isinstance(fast, LinearStep)
    for _ in range(2):
        for step in (fast, slow):
            predicted = step.predict(x)
            assert predicted.shape == gradient.shape
            step.update(predicted, gradient)
    assert torch.allclose(net(x), its(x), atol=1e-6)


def test_autocast_is_left_to_autograd():
    net = nn.Linear(3, 2)
    optimizer = LeanAdam(list(net.parameters()), 0.1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        step = step_of(net, optimizer)
        step.update(step.predict(torch.ones(4, 3)), torch.ones(4, 2))
    assert net.weight.grad is not None
    assert net.weight.grad.dtype == torch.float32
