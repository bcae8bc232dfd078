"""What is kept for speed does what torch does: the same Adam bit for bit, the same gradients as autograd."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from regretless.training.fast_linear import LeanAdam, LinearStep, linear_step
from regretless.training.models import SharedLinear, make_model
from regretless.training.scaling import with_cost_scale
from regretless.training.step import GradientStep, step_of
from tests import forked

# --- Adam ---------------------------------------------------------------------------------------------------------


def two_layers() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))


def set_gradients(model: nn.Module, step: int, skip: int | None = None) -> None:
    generator = torch.Generator().manual_seed(step)
    for k, parameter in enumerate(model.parameters()):
        parameter.grad = None if k == skip else torch.randn(parameter.shape, generator=generator)


def test_a_lean_step_is_a_step_bit_for_bit():
    lean, usual = two_layers(), two_layers()
    ours = LeanAdam(list(lean.parameters()), lr=0.1)
    theirs = torch.optim.Adam(usual.parameters(), lr=0.1, fused=True)
    for step in range(7):
        for net in (lean, usual):
            set_gradients(net, step, skip=1 if step == 0 else None)  # one parameter joins later
        if step == 4:
            ours.param_groups[0]["lr"] = theirs.param_groups[0]["lr"] = 0.01
        ours.lean_step()
        theirs.step()
        assert all(map(torch.equal, lean.parameters(), usual.parameters()))


def new_memory(net: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    nn.utils.vector_to_parameters(2 * nn.utils.parameters_to_vector(net.parameters()).detach(), net.parameters())


def loaded_state(net: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))


def one_more_group(net: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    last = optimizer.param_groups[0]["params"].pop()
    optimizer.add_param_group({"params": [last], "lr": 0.01})


def other_weights(net: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    copied = [nn.Parameter(p.detach().clone()) for p in net.parameters()]
    for parameter, old in zip(copied, net.parameters(), strict=True):
        parameter.grad = old.grad
    net[0].weight, net[0].bias, net[1].weight, net[1].bias = copied
    optimizer.param_groups[0]["params"][:] = copied


@pytest.mark.parametrize(
    "change",
    [
        new_memory,
        loaded_state,
        one_more_group,
        other_weights,
        lambda net, optimizer: optimizer.state.clear(),
        lambda net, optimizer: setattr(net[0].weight, "grad", None),
        lambda net, optimizer: setattr(net[0].weight, "grad", torch.ones(4, 3)),
        lambda net, optimizer: optimizer.param_groups[0].update(lr=0.01),
    ],
)
def test_a_lean_step_collects_its_arguments_again_after_every_change(change: Callable) -> None:
    lean, usual = two_layers(), two_layers()
    ours = LeanAdam(list(lean.parameters()), lr=0.1)
    theirs = torch.optim.Adam(usual.parameters(), lr=0.1, fused=True)
    for net in (lean, usual):
        set_gradients(net, 0)
    for step in range(6):
        if step == 3:
            change(lean, ours)
            change(usual, theirs)
        ours.lean_step()
        theirs.step()
        assert all(map(torch.equal, lean.parameters(), usual.parameters()))
        for net in (lean, usual):
            for parameter in net.parameters():
                if parameter.grad is not None:
                    parameter.grad *= -0.7  # in the same memory, as ``LinearStep`` writes it


def test_a_copy_of_an_optimizer_steps_its_own_weights():
    net = two_layers()
    optimizer = LeanAdam(list(net.parameters()), lr=0.1)
    set_gradients(net, 0)
    optimizer.lean_step()
    optimizer.lean_step()
    other_net, other = copy.deepcopy((net, optimizer))
    before = [p.detach().clone() for p in net.parameters()]
    set_gradients(other_net, 1)
    other.lean_step()
    assert all(map(torch.equal, net.parameters(), before))
    assert not any(map(torch.equal, other_net.parameters(), before))


def test_both_ways_can_be_mixed_and_the_state_is_torchs():
    one, other = two_layers(), two_layers()
    mixed = LeanAdam(list(one.parameters()), lr=0.1)
    plain = torch.optim.Adam(other.parameters(), lr=0.1, fused=True)
    for step in range(3):
        set_gradients(one, step)
        mixed.lean_step()
    other.load_state_dict(one.state_dict())
    plain.load_state_dict(copy.deepcopy(mixed.state_dict()))
    set_gradients(one, 9)
    set_gradients(other, 9)
    mixed.step()
    plain.step()
    assert all(map(torch.equal, one.parameters(), other.parameters()))


def test_a_second_group_has_its_own_learning_rate():
    net = two_layers()
    optimizer = LeanAdam(list(net[0].parameters()), lr=0.1)
    optimizer.add_param_group({"params": list(net[1].parameters()), "lr": 1e-6})
    for step in range(3):
        set_gradients(net, step)
        before = [p.detach().clone() for p in net.parameters()]
        optimizer.lean_step()
    moved = [float((p.detach() - b).abs().max()) for p, b in zip(net.parameters(), before, strict=True)]
    assert min(moved[:2]) > 1e-3
    assert max(moved[2:]) < 1e-5


def test_a_group_without_a_gradient_stays_as_it_is():
    net = two_layers()
    optimizer = LeanAdam(list(net[0].parameters()), lr=0.1)
    optimizer.add_param_group({"params": list(net[1].parameters())})
    before = [p.detach().clone() for p in net[1].parameters()]
    for step in range(3):
        set_gradients(net[0], step)
        optimizer.lean_step()
    assert all(map(torch.equal, net[1].parameters(), before))


# --- the linear step ----------------------------------------------------------------------------------------------


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


SCRIPT = """
import sys, torch
from regretless.training.fast_linear import LeanAdam
net = torch.nn.Linear(2, 1)
optimizer = LeanAdam(list(net.parameters()), lr=0.1)
for step in (optimizer.step, optimizer.lean_step):
    optimizer.zero_grad()
    net(torch.ones(3, 2)).sum().backward()
    step()
optimizer.load_state_dict(optimizer.state_dict())
print("torch._dynamo" in sys.modules)
"""


def test_it_does_not_import_the_compiler_of_torch(tmp_path: Path) -> None:
    forked.start(SCRIPT, output=tmp_path / "said").join()
    assert (tmp_path / "said").read_text() == "False\n"


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
