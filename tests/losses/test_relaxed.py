from __future__ import annotations

import numpy as np
import torch

from regretless.losses.interior import Interior
from regretless.milp import MILP
from regretless.problem import Problem


def test_an_instance_that_failed_is_left_out_of_the_mean_and_of_the_gradient():
    problem = Problem(MILP([[1.0, -1.0]], row_upper=1.0, upper=np.inf), on_failure="skip")
    loss = Interior(problem, cutoff=0.1)
    predicted = torch.tensor([[1.0, 1.0], [-2.0, 1.0], [0.5, 2.0]], requires_grad=True)
    true, solution = torch.ones(3, 2), torch.zeros(3, 2)
    mean = loss(predicted, true, solution)
    mean.backward()
    alone = loss(predicted.detach()[[0, 2]], true[:2], solution[:2])
    assert torch.isclose(mean, alone)
    assert predicted.grad is not None
    assert predicted.grad[1].tolist() == [0.0, 0.0]
    assert predicted.grad[0].abs().max() > 0


def test_the_value_is_the_regret_of_the_relaxed_solution():
    loss = Interior(Problem(MILP([[1.0, 1.0]], row_upper=1.0)), cutoff=0.1, reduction="none")
    predicted, true = torch.tensor([[-1.0, -2.0]]), torch.tensor([[-3.0, -1.0]])
    relaxed, solution = loss.relaxation(predicted, None), torch.tensor([[1.0, 0.0]])
    torch.testing.assert_close(loss(predicted, true, solution), (true * (relaxed - solution)).sum(dim=1))
