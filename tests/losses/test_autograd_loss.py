"""What only losses with a graph do; what both kinds share is in ``test_base.py``."""

from __future__ import annotations

import torch

from regretless.losses import AutogradLoss


def test_a_loss_without_a_graph_has_a_gradient_of_zero():
    class Constant(AutogradLoss):
        def per_instance(self, predicted, true, solution, instance):
            return true.sum(dim=1)

    predicted, true = torch.randn(3, 2), torch.ones(3, 2)
    value, gradient = Constant().loss_and_gradient(predicted, true, true)
    assert value.item() == 2.0
    assert (gradient == 0).all()


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
