from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError
from regretless.losses import TwoStage

from .tiny import KINDS


def test_squared_error_is_the_mean_over_costs():
    loss = TwoStage(reduction="none")
    predicted, true = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[0.0, 4.0], [3.0, 1.0]])
    assert loss(predicted, true, torch.zeros(2, 2)).tolist() == [2.5, 5.0]


def test_cross_entropy_is_its_definition_with_its_gradient():
    generator = torch.Generator().manual_seed(0)
    predicted = torch.rand(4, 5, generator=generator, dtype=torch.float64).clamp(0.05, 0.95).requires_grad_()
    labels = (torch.rand(4, 5, generator=generator) < 0.5).double()
    losses = TwoStage(criterion="bce", reduction="none")(predicted, labels, torch.zeros(4, 5))
    p = predicted.detach()
    assert torch.allclose(losses, -(labels * p.log() + (1 - labels) * (1 - p).log()).mean(dim=1))
    (gradient,) = torch.autograd.grad(losses.sum(), predicted)
    assert torch.allclose(gradient, (p - labels) / (5 * p * (1 - p)))
    assert torch.autograd.gradcheck(lambda q: TwoStage(criterion="bce")(q, labels, labels), predicted)


def test_certain_and_right_costs_nothing():
    labels = torch.tensor([[0.0, 1.0]])
    assert TwoStage(criterion="bce")(labels.clone(), labels, labels).item() == 0.0


@pytest.mark.parametrize("bad", [-0.1, 1.5, float("nan")])
def test_cross_entropy_needs_probabilities_and_labels(bad):
    good, wrong = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.5, bad]])
    loss = TwoStage(criterion="bce")
    with pytest.raises(InputError, match="predictions between 0 and 1"):
        loss(wrong, good, good)
    with pytest.raises(InputError, match="labels between 0 and 1"):
        loss(good, wrong, good)


def test_the_problem_is_for_evaluation_only():
    problem = KINDS["known"].problem("max")
    loss = TwoStage(problem)
    assert loss.problem is problem
    assert loss.oracle is None
    assert loss(torch.ones(1, 4), torch.zeros(1, 4), torch.zeros(1, 5)).item() == 1.0
    assert problem.statistics.solves == 0


def test_the_criterion_is_known():
    with pytest.raises(InputError, match="criterion must be 'mse' or 'bce', got 'mae'"):
        TwoStage(criterion="mae")
