from __future__ import annotations

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError, SolveError
from regretless.family import Family
from regretless.losses import (
    LAVA,
    MAP,
    NCE,
    Blackbox,
    ExpectedRegret,
    PerturbedFenchelYoung,
    Pointwise,
    SPOPlus,
    TwoStage,
    WarmUp,
)
from regretless.losses.label_check import LabelCheck
from regretless.milp import MILP
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


BAG = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
BEST = torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]], dtype=torch.float64)


@pytest.mark.parametrize("cached", [False, True])
def test_a_loss_refuses_true_costs_in_the_place_of_the_solutions(cached):
    problem = Problem(BAG, sense="max")
    loss = MAP(SolutionCache(problem, BEST, p_solve=0.0) if cached else problem)
    with pytest.raises(InputError, match="row 0 of the solutions is infeasible for the model: pass the true optima"):
        loss(COSTS, BEST, COSTS)


def test_a_loss_compares_labels_of_a_family_with_their_own_member():
    family = Family.vary(BAG, row_upper=[[7.0], [3.0]])
    loss = SPOPlus(Problem(family, sense="max"))
    with pytest.raises(InputError, match="row 1 of the solutions is infeasible"):
        loss(COSTS, COSTS, BEST, [0, 1])
    with pytest.raises(InputError, match="instance must be between 0 and 1, got 2"):
        loss(COSTS, COSTS, BEST, [0, 2])


def test_only_the_first_batch_of_a_loss_is_checked_for_feasibility(monkeypatch):
    checked = []
    monkeypatch.setattr(
        "regretless.losses.label_check.refuse_infeasible_labels", lambda *given: checked.append(len(given[1]))
    )
    problem = Problem(BAG, sense="max")
    loss, best = SPOPlus(problem), problem.solve(COSTS).solution
    for rows in (2, 1):
        loss(COSTS[:rows], COSTS[:rows], best[:rows])
    assert checked == [2]


def test_labels_in_single_precision_are_not_refused_for_their_rounding():
    problem = Problem(MILP([[1.0, -1.0]], row_lower=3.0, row_upper=3.0, upper=1e9), sense="min")
    true = torch.tensor([[-1.0, 0.5]], dtype=torch.float64)
    label = problem.solve(true).solution
    assert label.float().double().diff().item() != -3.0
    SPOPlus(problem)(true, true, label)
    SPOPlus(problem).check_labels(label.float())


@pytest.mark.parametrize("warm_up", [False, True])
def test_fit_refuses_infeasible_labels_before_it_solves_anything(warm_up):
    problem = Problem(BAG, sense="max")
    labels = problem.solve(COSTS).solution
    labels[1] = 1.0
    loss = WarmUp(MAP(problem), SPOPlus(problem), steps=1) if warm_up else SPOPlus(problem)
    solves = problem.statistics.solves
    data = Dataset(COSTS.float(), COSTS, labels)
    with pytest.raises(InputError, match="row 1 of the solutions is infeasible"):
        fit(torch.nn.Linear(3, 3), loss, data, epochs=1, progress=False)
    assert problem.statistics.solves == solves
    fit(torch.nn.Linear(3, 3), TwoStage(problem), data, epochs=1, progress=False)  # it does not use labels


def test_fit_refuses_labels_of_a_problem_with_another_number_of_costs():
    data = Dataset(COSTS.float(), COSTS[:, :2], BEST[:, :2])
    with pytest.raises(InputError, match=r"solution must have shape \(n, 3\), got \(2, 2\)"):
        fit(torch.nn.Linear(3, 2), SPOPlus(Problem(BAG, sense="max")), data, epochs=1, progress=False)


def test_every_answer_of_a_step_is_compared_and_a_step_that_is_dropped_is_not():
    check, problem, better = LabelCheck(), cheapest(), torch.eye(3, dtype=torch.float64)[[0, 1]]
    check.note([WRONG, better], COSTS, WRONG, None, problem)
    with pytest.raises(SolveError, match=r"instance 0 of the batch .* better than its label"):
        check.finish()
    check.note([better], COSTS, WRONG, None, problem)
    check.begin(COSTS)
    check.finish()


def maximized(costs):
    """Labels of the wrong sense: the dearest entry in place of the cheapest one."""
    return torch.eye(3, dtype=torch.float64)[costs.argmax(dim=1)]


@pytest.mark.parametrize("make", [NCE, LAVA, ExpectedRegret, Pointwise])
def test_labels_of_the_wrong_sense_are_refused_also_by_losses_that_ask_no_oracle(make):
    loss, labels = make(SolutionCache(cheapest(), maximized(COSTS), p_solve=0.0)), maximized(COSTS)
    with pytest.raises(SolveError, match=r"better than its label .*the oracle, the sense or the label is wrong"):
        fit(torch.nn.Linear(3, 3), loss, Dataset(COSTS.float(), COSTS, labels), epochs=1, progress=False)
    loss = make(SolutionCache(cheapest(), labels, p_solve=0.0))
    with pytest.raises(SolveError, match="better than its label"):
        loss(COSTS, COSTS, labels)


def test_labels_without_true_costs_are_not_compared():
    loss = NCE(SolutionCache(cheapest(), torch.eye(3), p_solve=0.0))
    loss(COSTS, torch.zeros(2, 3), maximized(COSTS))
    loss.check_labels(maximized(COSTS), None, torch.full((2, 3), torch.nan))
    loss.check_labels(maximized(COSTS), None, COSTS, ["feasible"] * 2)  # nor are those that are not optimal


def test_labels_of_an_objective_that_is_not_linear_are_not_compared():
    cache = SolutionCache(cheapest(), torch.eye(3), p_solve=0.0)
    loss = NCE(cache, objective=lambda solutions, costs: -((solutions * costs).sum(-1) ** 3))
    loss(COSTS, COSTS, maximized(COSTS))


def test_labels_of_a_family_are_compared_where_they_are_feasible():
    family = Family.vary(BAG, row_upper=[[7.0], [3.0]])
    problem = Problem(family, sense="max")
    costs = torch.tensor([[4.0, 5.0, 6.0], [4.0, 5.0, 6.0]], dtype=torch.float64)
    labels = problem.solve(costs, [0, 1]).solution
    loss = NCE(SolutionCache(problem, labels, instance=[0, 1], p_solve=0.0))
    loss(costs, costs, labels, [0, 1])  # the better one is infeasible for the second member
    worse = labels.clone()
    worse[0] = worse[1]
    loss.check_labels(worse[:1], torch.tensor([0]), costs[:1])
    with pytest.raises(SolveError, match="better than its label"):
        loss.check_labels(torch.cat([worse[:1], labels[:1]]), torch.tensor([0, 0]), costs)


@pytest.mark.parametrize("family", [False, True])
@pytest.mark.parametrize("make", [MAP, PerturbedFenchelYoung, NCE])
def test_without_true_costs_labels_are_not_compared_at_known_costs(make, family):
    bag = MILP([[3.0, 4.0, 5.0]], row_upper=7.0, fixed_cost=[-1.0, -1.0, -1.0])
    problem = Problem(Family([bag, bag]) if family else bag, sense="max")
    ids = torch.tensor([0, 1]) if family else None
    good = problem.solve(5 * COSTS, ids).solution  # any choice is worse than none at the known costs
    cache = SolutionCache(problem, good, instance=ids, p_solve=0.0)
    cache.add(0 * good, ids)
    loss = make(cache)
    loss(COSTS, torch.zeros(2, 3), good, ids)
