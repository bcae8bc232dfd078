from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from regretless.errors import InputError
from regretless.losses import MAP
from regretless.training import Callback, fit
from regretless.training.fast_linear import LinearStep
from regretless.training.lean_adam import LeanAdam
from regretless.training.step import GradientStep, step_of

from .runs import cache, data, model, weights

X = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))


def gradient(step: int = 0) -> torch.Tensor:
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(step + 1))


def test_a_gradient_step_is_a_backward_pass_and_a_step_of_the_optimizer():
    torch.manual_seed(0)
    mine = nn.Sequential(nn.Linear(5, 3), nn.Tanh(), nn.Linear(3, 4))
    its = copy.deepcopy(mine)
    step = GradientStep(mine, torch.optim.SGD(mine.parameters(), lr=0.1, momentum=0.9))
    optimizer = torch.optim.SGD(its.parameters(), lr=0.1, momentum=0.9)
    for k in range(3):
        step.update(step.predict(X), gradient(k))
        optimizer.zero_grad()
        (its(X) * gradient(k)).sum().backward()
        optimizer.step()
        assert all(map(torch.equal, mine.parameters(), its.parameters()))


def test_a_prediction_without_a_graph_changes_nothing():
    net = nn.Linear(5, 4).requires_grad_(False)
    extra = nn.Parameter(torch.ones(()))
    step = GradientStep(net, torch.optim.SGD([extra], lr=0.1))
    step.update(step.predict(X), gradient())
    assert extra.item() == 1.0


@pytest.mark.parametrize("lean", [True, False])
def test_the_fast_step_is_used_only_with_the_librarys_own_adam(lean):
    net = nn.Linear(5, 4)
    optimizer = LeanAdam(list(net.parameters()), 0.1) if lean else torch.optim.Adam(net.parameters(), lr=0.1)
    assert isinstance(step_of(net, optimizer), LinearStep if lean else GradientStep)


def test_fit_trains_a_linear_model_to_the_same_weights_by_both_steps():
    train = data()
    found = []
    for optimizer in (LeanAdam, lambda parameters, lr: torch.optim.Adam(parameters, lr=lr, fused=True)):
        net = nn.Sequential(nn.Linear(4, 1), nn.Flatten(1))
        net[0].load_state_dict(model().linear.state_dict())
        fit(net, MAP(cache(train)), train, epochs=3, batch_size=4, optimizer=optimizer(list(net.parameters()), 0.1))
        found.append(weights(net))
    assert torch.allclose(found[0], found[1], rtol=1e-4, atol=1e-5)
    assert not torch.equal(found[0], weights(model()))


def test_a_callback_may_freeze_a_layer_that_had_the_fast_step():
    class Freeze(Callback):
        def on_epoch(self, state):
            if state.epoch == 1:
                state.model[0].bias.requires_grad_(requires_grad=False)
                self.weight, self.bias = (p.detach().clone() for p in state.model.parameters())

    freeze, train = Freeze(), data()
    net = nn.Sequential(nn.Linear(4, 1), nn.Flatten(1))
    fit(net, MAP(cache(train)), train, epochs=2, batch_size=4, callbacks=[freeze])
    assert torch.equal(net[0].bias, freeze.bias)
    assert not torch.equal(net[0].weight, freeze.weight)


def test_the_norm_is_that_of_the_weights_that_the_optimizer_trains():
    found = []
    for frozen in (True, False):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(5, 3), nn.Linear(3, 4))
        net[0].requires_grad_(not frozen)  # its gradients add up over the steps
        step = GradientStep(net, torch.optim.SGD(net[1].parameters(), lr=0.1), clip=1.0)
        for k in range(4):
            step.update(step.predict(X), gradient(k))
        found.append(weights(net))
    assert torch.equal(found[0], found[1])


class Returns(nn.Module):
    """A model with another result in training than in evaluation."""

    def __init__(self, result) -> None:
        super().__init__()
        self.linear, self.result = nn.Linear(4, 1), result

    def forward(self, x: torch.Tensor):
        costs = self.linear(x)[..., 0]
        return self.result(costs) if self.training else costs


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda costs: (costs, costs), "Returns must return the predicted costs as one tensor, got tuple"),
        (torch.detach, "the predictions of the model Returns have no gradient, so it cannot be trained"),
    ],
)
def test_a_result_in_training_that_cannot_be_trained_is_refused(result, message):
    with pytest.raises(InputError, match=message):
        fit(Returns(result), MAP(cache(data())), data(), epochs=1)


def test_batch_normalization_and_batches_of_one_instance_are_refused():
    net = nn.Sequential(nn.Flatten(), nn.Linear(24, 6), nn.BatchNorm1d(6))
    with pytest.raises(InputError, match="cannot be trained on a batch of one instance, as batch normalization"):
        fit(net, MAP(cache(data())), data(), epochs=1, batch_size=1)
