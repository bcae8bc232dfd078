"""``LeanAdam`` is torch's fused Adam, bit for bit, also where a step is more than its kernel."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from regretless.training.lean_adam import LeanAdam
from tests import forked


def two_layers() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))


def set_gradients(model: nn.Module, step: int, skip: int | None = None) -> None:
    generator = torch.Generator().manual_seed(step)
    for k, parameter in enumerate(model.parameters()):
        parameter.grad = None if k == skip else torch.randn(parameter.shape, generator=generator)


def test_a_step_is_that_of_torch_bit_for_bit():
    lean, usual = two_layers(), two_layers()
    ours = LeanAdam(list(lean.parameters()), lr=0.1)
    theirs = torch.optim.Adam(usual.parameters(), lr=0.1, fused=True)
    for step in range(7):
        for net in (lean, usual):
            set_gradients(net, step, skip=1 if step == 0 else None)  # one parameter joins later
        if step == 4:
            ours.param_groups[0]["lr"] = theirs.param_groups[0]["lr"] = 0.01
        ours.step()
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
def test_a_step_collects_its_arguments_again_after_every_change(change: Callable) -> None:
    lean, usual = two_layers(), two_layers()
    ours = LeanAdam(list(lean.parameters()), lr=0.1)
    theirs = torch.optim.Adam(usual.parameters(), lr=0.1, fused=True)
    for net in (lean, usual):
        set_gradients(net, 0)
    for step in range(6):
        if step == 3:
            change(lean, ours)
            change(usual, theirs)
        ours.step()
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
    optimizer.step()
    optimizer.step()
    other_net, other = copy.deepcopy((net, optimizer))
    before = [p.detach().clone() for p in net.parameters()]
    set_gradients(other_net, 1)
    other.step()
    assert all(map(torch.equal, net.parameters(), before))
    assert not any(map(torch.equal, other_net.parameters(), before))


def test_the_state_is_torchs():
    one, other = two_layers(), two_layers()
    ours = LeanAdam(list(one.parameters()), lr=0.1)
    usual = torch.optim.Adam(other.parameters(), lr=0.1, fused=True)
    for step in range(3):
        set_gradients(one, step)
        ours.step()
    other.load_state_dict(one.state_dict())
    usual.load_state_dict(copy.deepcopy(ours.state_dict()))
    set_gradients(one, 9)
    set_gradients(other, 9)
    ours.step()
    usual.step()
    assert all(map(torch.equal, one.parameters(), other.parameters()))


def test_a_second_group_has_its_own_learning_rate():
    net = two_layers()
    optimizer = LeanAdam(list(net[0].parameters()), lr=0.1)
    optimizer.add_param_group({"params": list(net[1].parameters()), "lr": 1e-6})
    for step in range(3):
        set_gradients(net, step)
        before = [p.detach().clone() for p in net.parameters()]
        optimizer.step()
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
        optimizer.step()
    assert all(map(torch.equal, net[1].parameters(), before))


def trained(make: Callable, use: Callable, steps: int = 5) -> tuple[list[torch.Tensor], object]:
    """Weights after some steps of two layers with an optimizer, and what ``use(optimizer, step, loss)`` returned."""
    net = two_layers()
    optimizer, x = make(net.parameters()), torch.randn(5, 3, generator=torch.Generator().manual_seed(3))

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = net(x).square().sum()
        value.backward()
        return value

    said = [use(optimizer, step, loss) for step in range(steps)]
    return [p.detach() for p in net.parameters()], said


def plain(optimizer, step, loss) -> None:
    loss()
    optimizer.step()


def with_closure(optimizer, step, loss) -> float:
    return optimizer.step(loss).item()


def with_own_hooks(optimizer, step, loss) -> list[str]:
    called: list[str] = []
    hooks = [
        optimizer.register_step_pre_hook(lambda *_: called.append("before")),
        optimizer.register_step_post_hook(lambda *_: called.append("after")),
    ]
    plain(optimizer, step, loss)
    for hook in hooks:
        hook.remove()
    return called


def with_hooks_of_all(optimizer, step, loss) -> list[str]:
    called: list[str] = []
    hooks = [
        register_optimizer_step_pre_hook(lambda *_: called.append("before")),
        register_optimizer_step_post_hook(lambda *_: called.append("after")),
    ]
    plain(optimizer, step, loss)
    for hook in hooks:
        hook.remove()
    return called


def with_found_infinity(optimizer, step, loss) -> None:
    """As ``GradScaler`` steps: scaled gradients are divided, and a step with an infinite one is left out."""
    loss()
    optimizer.grad_scale, optimizer.found_inf = torch.tensor(4.0), torch.tensor(float(step == 3))
    optimizer.step()
    del optimizer.grad_scale, optimizer.found_inf


def with_scheduler(optimizer, step, loss) -> list[float]:
    if step == 0:
        optimizer.scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=9)
    plain(optimizer, step, loss)
    optimizer.scheduler.step()
    return optimizer.scheduler.get_last_lr()


def with_old_gradients(optimizer, step, loss) -> None:
    loss()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    assert all(not p.grad.any() for group in optimizer.param_groups for p in group["params"])
    optimizer.step()


def with_a_graph_of_gradients(optimizer, step, loss) -> None:
    value = loss()
    for p in (p for group in optimizer.param_groups for p in group["params"]):
        p.grad = (p * value).sum() * p
    optimizer.step()


@pytest.mark.parametrize(
    "use",
    [plain, with_closure, with_own_hooks, with_hooks_of_all, with_found_infinity, with_scheduler, with_old_gradients,
     with_a_graph_of_gradients],
)  # fmt: skip
def test_it_is_used_as_torchs(use: Callable) -> None:
    settings = {"lr": 0.1, "betas": (0.8, 0.99), "eps": 1e-6, "weight_decay": 0.01}
    weights, said = trained(lambda parameters: LeanAdam(parameters, **settings), use)
    expected, expected_said = trained(lambda parameters: torch.optim.Adam(parameters, fused=True, **settings), use)
    assert all(map(torch.equal, weights, expected))
    assert said == expected_said
    assert use in (plain, with_old_gradients, with_found_infinity, with_a_graph_of_gradients) or all(said)


def test_it_goes_on_where_another_adam_stopped():
    """Settings that its own constructor does not take come with a loaded state."""
    for more in ({"amsgrad": True}, {"maximize": True}, {"decoupled_weight_decay": True, "weight_decay": 0.1}, {}):
        lean, usual = two_layers(), two_layers()
        theirs = torch.optim.Adam(usual.parameters(), lr=0.1, fused=True, **more)
        set_gradients(usual, 0)
        theirs.step()
        lean.load_state_dict(usual.state_dict())
        ours = LeanAdam(lean.parameters())
        ours.load_state_dict(copy.deepcopy(theirs.state_dict()))
        for step in range(1, 4):
            for net, optimizer in ((lean, ours), (usual, theirs)):
                set_gradients(net, step)
                optimizer.step()
        assert all(map(torch.equal, lean.parameters(), usual.parameters()))


def test_weights_of_two_precisions_are_left_to_torch():
    lean, usual = two_layers(), two_layers()
    for net in (lean, usual):
        net[1].to(torch.float64)
    ours, theirs = LeanAdam(lean.parameters(), 0.1), torch.optim.Adam(usual.parameters(), 0.1, fused=True)
    for step in range(3):
        for net, optimizer in ((lean, ours), (usual, theirs)):
            for k, p in enumerate(net.parameters()):
                p.grad = torch.full_like(p, 0.1 * step + k)
            optimizer.step()
    assert all(map(torch.equal, lean.parameters(), usual.parameters()))


@pytest.mark.parametrize("settings", [{"lr": -1.0}, {"betas": (1.0, 0.9)}, {"eps": -1.0}, {"weight_decay": -1.0}])
def test_settings_are_checked_by_torch(settings):
    with pytest.raises(ValueError, match="Invalid"):
        LeanAdam(two_layers().parameters(), **settings)


def test_it_counts_the_steps_that_torch_does_not_see():
    """A step of the kernel alone leaves the state that torch would leave."""
    net = two_layers()
    optimizer = LeanAdam(net.parameters(), 0.1)
    for step in range(4):
        set_gradients(net, step)
        optimizer.step()
    assert {float(own["step"]) for own in optimizer.state.values()} == {4.0}


SCRIPT = """
import sys, torch
from regretless.training.lean_adam import LeanAdam
net = torch.nn.Linear(2, 1)
optimizer = LeanAdam(list(net.parameters()), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    net(torch.ones(3, 2)).sum().backward()
    optimizer.step()
optimizer.load_state_dict(optimizer.state_dict())
print("torch._dynamo" in sys.modules)
"""


def test_it_does_not_import_the_compiler_of_torch(tmp_path: Path) -> None:
    forked.start(SCRIPT, output=tmp_path / "said").join()
    assert (tmp_path / "said").read_text() == "False\n"
