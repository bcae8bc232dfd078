"""What only losses with a closed form do. Of what both kinds share the tests are in ``test_base.py``."""

from __future__ import annotations

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses import MAP, ClosedFormLoss, SPOPlus
from regretless.milp import MILP
from regretless.problem import Problem


def test_when_every_instance_is_left_out_the_loss_and_its_gradient_are_zero():
    def no_luck(costs):
        raise RuntimeError("no luck")

    loss = SPOPlus(Problem(oracle=no_luck, dimension=2, on_failure="skip"))
    predicted = torch.randn(3, 2, requires_grad=True)
    value = loss(predicted, torch.randn(3, 2), torch.zeros(3, 2))
    value.backward()
    assert value.item() == 0.0
    assert (predicted.grad == 0).all()


def test_a_closed_form_with_a_gradient_of_another_shape_is_refused():
    class Closed(ClosedFormLoss):
        def value_and_gradient(self, predicted, true, solution, instance):
            return predicted.sum(1), torch.zeros_like(predicted[:, :1])

    predicted, true = torch.ones(2, 2), torch.zeros(2, 2)
    with pytest.raises(InputError, match=r"expected tensors of shape \(2,\) and \(2, 2\), got \(2,\) and \(2, 1\)"):
        Closed(Problem(MILP([[1.0, 1.0]], row_upper=1.0)))(predicted, true, true)


def test_a_formula_is_not_captured_unless_it_says_so():
    class Own(SPOPlus):
        pass

    problem = Problem(MILP([[1.0, 1.0]], row_upper=1.0))
    assert SPOPlus(problem).operations() is not None
    assert Own(problem).operations() is None
    assert MAP(problem, cost="c_hat", select="predicted").operations() == ("c_hat", "predicted")
    assert MAP(SolutionCache(problem), objective=lambda solutions, costs: costs).operations() is None
