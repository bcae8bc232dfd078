"""What only losses with a graph do; what both kinds share is in ``test_base.py``."""

from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError
from regretless.losses import AutogradLoss


class Detached(AutogradLoss):
    left_out = False

    def per_instance(self, predicted, true, solution, instance):
        if self.left_out:
            self._left_out = torch.ones(len(true), dtype=torch.bool)
        return true.sum(dim=1)


def test_values_without_a_graph_are_refused_because_they_would_train_nothing():
    predicted, true = torch.randn(3, 2), torch.ones(3, 2)
    with pytest.raises(InputError, match=r"Detached\.per_instance returned values without a graph: .* without detach"):
        Detached().loss_and_gradient(predicted, true, true)


def test_a_batch_of_which_every_instance_is_left_out_has_a_gradient_of_zero():
    loss, true = Detached(), torch.ones(3, 2)
    loss.left_out = True
    value, gradient = loss.loss_and_gradient(torch.randn(3, 2), true, true)
    assert value.item() == 0.0
    assert (gradient == 0).all()
    assert loss.loss_and_gradient(true[:0], true[:0], true[:0])[1].shape == (0, 2)


def test_loss_and_gradient_are_those_of_backward_and_have_no_graph():
    class Square(AutogradLoss):
        def per_instance(self, predicted, true, solution, instance):
            return ((predicted - true) ** 2).sum(dim=1)

    predicted, true = torch.randn(3, 2, requires_grad=True), torch.ones(3, 2)
    value, gradient = Square().loss_and_gradient(predicted, true, true)
    assert not value.requires_grad
    assert not gradient.requires_grad
    Square()(predicted, true, true).backward()
    assert torch.equal(gradient, predicted.grad)
