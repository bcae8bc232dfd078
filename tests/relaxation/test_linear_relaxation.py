from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.errors import InputError
from regretless.family import Family
from regretless.losses import SPOPlus
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.relaxation.linear_relaxation import LinearRelaxation


def knapsack(sense: str = "max", **options) -> Problem:
    weights = np.random.default_rng(0).integers(3, 9, 12)
    return Problem(MILP([weights], row_upper=20.0), sense=sense, **options)


def costs(batch: int = 30) -> torch.Tensor:
    return torch.as_tensor(np.random.default_rng(1).normal(-5.0, 3.0, (batch, 12)))


def test_relaxed_value_is_never_above_the_exact_one():
    problem = knapsack()
    relaxed = LinearRelaxation(problem)
    c = costs()
    assert bool(((c * relaxed(c)).sum(1) <= (c * problem(c)).sum(1) + 1e-9).all())


def test_relaxation_equals_the_greedy_fractional_knapsack():
    problem = knapsack()
    weights = problem.model.A.toarray()[0]
    for c in costs(10).numpy():
        left, value = 20.0, 0.0
        for item in np.argsort(c / weights):
            if c[item] < 0:
                part = min(1.0, left / weights[item])
                value, left = value + part * c[item], left - part * weights[item]
        solution = LinearRelaxation(problem)(torch.as_tensor(c)[None])[0].numpy()
        assert value == pytest.approx(float(c @ solution), rel=1e-9)


@pytest.mark.parametrize("workers", [1, 3])
def test_warm_answers_do_not_depend_on_order_or_workers(workers):
    # Many ties: integer costs, so that several vertices are optimal.
    c = costs(40).round()
    reference = LinearRelaxation(knapsack())(c)
    shuffled = LinearRelaxation(knapsack(), workers=workers)(c.flip(0)).flip(0)
    assert torch.equal(reference, shuffled)


def test_solves_are_made_by_the_workers_of_the_problem_unless_others_are_given():
    problem = knapsack(workers=3)
    assert LinearRelaxation(problem).relaxed.backend.workers == 3
    assert LinearRelaxation(problem, workers=2).relaxed.backend.workers == 2
    with pytest.raises(InputError, match="workers must be an integer, at least 1, got 0"):
        LinearRelaxation(problem, workers=0)


def test_a_batch_in_one_computation_has_no_workers():
    with pytest.raises(InputError, match="solves a batch in one computation: leave out workers="):
        LinearRelaxation(knapsack(), workers=2, engine="batched-lp")
    assert LinearRelaxation(knapsack(workers=2), engine="batched-lp").relaxed.workers == 1


@pytest.mark.parametrize("engine", ["highs", "batched-lp"])
def test_the_time_limit_of_the_problem_holds_for_its_relaxation(engine):
    assert LinearRelaxation(knapsack(time_limit=7.0), engine=engine).relaxed.backend.time_limit == 7.0
    assert LinearRelaxation(knapsack(), engine=engine).relaxed.backend.time_limit is None


def test_training_counts_relaxed_solves_in_the_account_of_the_problem():
    problem = knapsack()
    loss = SPOPlus(LinearRelaxation(problem))
    c = -costs(4)
    loss(c.clone().requires_grad_(), c + 1.0, problem.solve(c + 1.0).solution).backward()
    assert problem.statistics.solves == 8
    assert loss.problem is problem


def test_family_relaxes_every_member():
    family = Family([MILP([[2.0, 3.0]], row_upper=b) for b in (2.0, 4.0)])
    relaxed = LinearRelaxation(Problem(family))
    found = relaxed(torch.tensor([[-1.0, -1.0], [-1.0, -1.0]]), torch.tensor([0, 1]))
    torch.testing.assert_close(found.sum(1), torch.tensor([1.0, 1.0 + 2 / 3]))


def test_a_member_that_joins_a_family_is_relaxed_too():
    problem = Problem(Family.vary(MILP([[2.0, 3.0]], row_upper=2.0), row_upper=[[2.0]]))
    relaxed = LinearRelaxation(problem)
    relaxed(torch.tensor([[-1.0, -1.0]]), torch.tensor([0]))
    (new,) = problem.family.add(row_upper=[[4.0]])
    found = relaxed(torch.tensor([[-1.0, -1.0]]), torch.tensor([new]))
    torch.testing.assert_close(found.sum(1), torch.tensor([1.0 + 2 / 3]))
    assert problem.statistics.solves == 2


def test_problem_without_a_model_is_refused():
    with pytest.raises(InputError, match="needs a problem with a MILP"):
        LinearRelaxation(Problem(oracle=lambda c: c, dimension=2))
    with pytest.raises(InputError, match="needs a Problem, got MILP"):
        LinearRelaxation(MILP([[1.0, 1.0]], row_upper=1.0))


def test_batches_of_linear_programs_give_the_same_relaxation():
    c = costs()
    batched, one_by_one = LinearRelaxation(knapsack(), engine="batched-lp")(c), LinearRelaxation(knapsack())(c)
    torch.testing.assert_close(batched, one_by_one, rtol=0, atol=1e-8)
    with pytest.raises(InputError, match="engine must be 'highs' or 'batched-lp'"):
        LinearRelaxation(knapsack(), engine="scip")
