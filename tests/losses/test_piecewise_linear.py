from __future__ import annotations

import numpy as np
import pytest
import torch
from regretless.losses.piecewise_linear import ClosedFormLoss

from regretless.milp import MILP
from regretless.problem import Problem


class Plane(ClosedFormLoss):
    """A loss that is one plane: value ``3 . p``, slope 3, in minimising costs."""

    def piece(self, predicted, true, solution, instance):
        slope = 0.0 * predicted + 3.0
        return (slope * predicted).sum(1), slope


def problem(sense: str, **options) -> Problem:
    return Problem(MILP([[1.0, 1.0]], row_upper=1.0, **options), sense=sense)


def batch(dtype=torch.float64):
    predicted = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=dtype).requires_grad_()
    return predicted, torch.zeros(2, 2, dtype=dtype)


@pytest.mark.parametrize(("reduction", "value", "slope"), [("mean", 15.0, 1.5), ("sum", 30.0, 3.0)])
def test_value_and_gradient_are_those_of_the_piece(reduction, value, slope):
    predicted, true = batch()
    loss = Plane(problem("min"), reduction=reduction)(predicted, true, torch.zeros(2, 2))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(value)
    assert torch.allclose(predicted.grad, torch.full((2, 2), slope, dtype=torch.float64))


def test_each_instance_has_its_own_gradient_without_a_reduction():
    predicted, true = batch()
    losses = Plane(problem("min"), reduction="none")(predicted, true, torch.zeros(2, 2))
    losses[1].backward()
    assert predicted.grad.tolist() == [[0.0, 0.0], [3.0, 3.0]]


def test_a_maximised_problem_turns_costs_and_gradient():
    predicted, true = batch()
    loss = Plane(problem("max"))(predicted, true, torch.zeros(2, 2))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(-15.0)
    assert torch.allclose(predicted.grad, torch.full((2, 2), -1.5, dtype=torch.float64))


def test_known_costs_count_in_the_value_and_not_in_the_gradient():
    predicted, true = batch()
    loss = Plane(problem("min", fixed_cost=[1.0, 1.0]))(predicted, true, torch.zeros(2, 3))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(18.0)
    assert predicted.grad.shape == (2, 2)


def test_instances_that_are_left_out_count_for_nothing():
    class OneLeftOut(Plane):
        def piece(self, predicted, true, solution, instance):
            self._left_out = torch.tensor([True, False])
            return super().piece(predicted, true, solution, instance)

    predicted, true = batch()
    loss = OneLeftOut(problem("min"))(predicted, true, torch.zeros(2, 2))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(21.0)
    assert predicted.grad.tolist() == [[0.0, 0.0], [3.0, 3.0]]


def test_solutions_of_higher_precision_than_the_prediction_are_taken():
    class Double(Plane):
        def piece(self, predicted, true, solution, instance):
            return super().piece(np.asarray(predicted, dtype=np.float64), true, solution, instance)

    predicted, true = batch(torch.float32)
    Double(problem("min"))(predicted, true, torch.zeros(2, 2)).backward()
    assert predicted.grad.dtype == torch.float32
