from __future__ import annotations

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import SolveError
from regretless.losses import MAP, Blackbox, PerturbedFenchelYoung, SPOPlus
from regretless.problem import Problem
from regretless.training import fit

COSTS = torch.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]], dtype=torch.float64)
WRONG = torch.tensor([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]], dtype=torch.float64)  # the first label is not optimal


def cheapest(sense="min"):
    return Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3, sense=sense)


@pytest.mark.parametrize("make", [SPOPlus, MAP, Blackbox, PerturbedFenchelYoung])
@pytest.mark.parametrize("cached", [False, True])
def test_training_refuses_an_answer_that_is_better_than_the_label(make, cached):
    problem = cheapest()
    oracle = SolutionCache(problem, torch.eye(3), p_solve=0.0) if cached else problem
    loss = make(oracle)
    with pytest.raises(SolveError, match=r"instance 0 of the batch .* better than its label"):
        loss(COSTS, COSTS, WRONG)


def test_fit_names_the_training_instance_whose_label_is_beaten():
    data = Dataset(COSTS.float(), COSTS, WRONG)
    model = torch.nn.Linear(3, 3)
    with torch.no_grad():
        model.weight.copy_(torch.eye(3))
        model.bias.zero_()
    with pytest.raises(SolveError, match="training instance 0 in epoch 1"):
        fit(model, SPOPlus(cheapest()), data, epochs=1, progress=False)


def test_right_labels_pass_in_single_precision_and_with_large_costs():
    problem = cheapest()
    for scale in (1e-6, 1.0, 1e9):
        true = scale * torch.rand(50, 3)
        labels = problem(true.double()).float()
        MAP(problem)(true + 0.1 * scale * torch.randn(50, 3), true, labels)


def test_labels_of_solves_that_were_cut_short_are_only_bounds():
    problem = cheapest()
    problem.statistics.not_optimal = 1
    SPOPlus(problem)(COSTS, COSTS, WRONG)


def test_a_step_that_failed_leaves_nothing_behind():
    loss = MAP(cheapest())
    with pytest.raises(SolveError, match="better than its label"):
        loss(COSTS, COSTS, WRONG)
    right = cheapest()(COSTS)
    loss(COSTS + 0.1, COSTS, right)
    with pytest.raises(SolveError, match="better than its label"):
        loss.loss_and_gradient(COSTS, COSTS, WRONG)
