from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from regretless import metrics
from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError, SolveError
from regretless.losses import Blackbox
from regretless.problem import Problem
from regretless.training import fit
from regretless.types import Solved

from .tiny import KINDS, batch, best, cache, value_and_gradient


def test_its_value_is_the_exact_regret():
    for kind in KINDS.values():
        b, problem = batch(kind, seed=6), kind.problem()
        values, _ = value_and_gradient(Blackbox(problem, reduction="none"), b)
        assert torch.allclose(values, metrics.regret(problem, b.predicted, b.true, b.solution, b.instance))


def test_fit_names_the_instance_whose_second_solve_failed():
    def fails_above_5(c):
        if c[0] > 5:
            raise RuntimeError("too much")
        return (c < 0) * 1.0

    problem = Problem(oracle=fails_above_5, dimension=2)
    costs = torch.tensor([[1.0, -1.0], [1.0, 1.0], [4.0, 1.0]])
    data = Dataset.solve(problem, torch.zeros(3, 1), costs)
    with pytest.raises(SolveError, match=r"training instance 2 in epoch 1, step 1.*too much"):
        fit(nn.Linear(1, 2), Blackbox(problem, lambda_=3.0), data, epochs=1, batch_size=3)


@pytest.mark.parametrize("lambda_", [0.1, 1.0, 25.0])
def test_its_gradient_is_the_slope_between_two_solutions(lambda_):
    kind = KINDS["plain"]
    b = batch(kind, seed=1)
    _, gradient = value_and_gradient(Blackbox(kind.problem(), lambda_=lambda_, reduction="none"), b)
    points = kind.points()
    for i in range(len(gradient)):
        there, here = best(points, b.predicted[i] + lambda_ * b.true[i]), best(points, b.predicted[i])
        assert torch.allclose(gradient[i], (there - here) / lambda_)


def test_a_step_against_the_gradient_of_a_wide_interpolation_lowers_the_regret():
    kind = KINDS["plain"]
    b, problem = batch(kind, n=30, seed=2), kind.problem()
    _, gradient = value_and_gradient(Blackbox(problem, lambda_=20.0, reduction="none"), b)
    before = metrics.regret(problem, b.predicted, b.true, b.solution).sum()
    after = metrics.regret(problem, b.predicted - 40.0 * gradient, b.true, b.solution).sum()
    assert after < 0.5 * before


class Recorder:
    def __init__(self, points) -> None:
        self.points, self.costs = points, []

    def solve(self, costs, instance=None, *, decision=False):
        self.costs.append(costs.clone())
        return Solved(self.points[(costs @ self.points.T).argmin(dim=1)])


class Scripted:
    def __init__(self, mask: list[bool]) -> None:
        self.mask = mask

    def choose(self, batch, generator):
        return np.array(self.mask)


def test_both_solutions_of_an_instance_come_from_the_same_side_of_the_coin():
    kind = KINDS["plain"]
    b = batch(kind, seed=4)
    recorder = Recorder(kind.points())
    problem = Problem(kind.still().model, oracle=recorder)
    heads = [True, False, True, False, False, True]
    memory = SolutionCache(problem, b.cached[:1], policy=Scripted(heads), grow_at="transformed", dtype=torch.float64)
    values, gradient = value_and_gradient(Blackbox(memory, reduction="none"), b)
    solved = b.predicted[heads]
    assert torch.equal(torch.cat(recorder.costs), torch.cat([solved, solved + b.true[heads]]))
    for i, head in enumerate(heads):
        choices = kind.points() if head else memory.solutions
        here, there = best(choices, b.predicted[i]), best(choices, b.predicted[i] + b.true[i])
        assert torch.allclose(gradient[i], there - here)
        assert torch.allclose(values[i], b.true[i] @ (here - b.solution[i]))


def test_at_growth_by_the_prediction_one_solve_serves_both():
    kind = KINDS["plain"]
    b = batch(kind, seed=4)
    recorder = Recorder(kind.points())
    memory = cache(Problem(kind.still().model, oracle=recorder), b, p_solve=1.0, grow_at="predicted")
    value_and_gradient(Blackbox(memory), b)
    assert torch.equal(torch.cat(recorder.costs), b.predicted)
    assert (memory.statistics.solves, memory.statistics.lookups) == (6, 12)


@pytest.mark.parametrize("lambda_", [0.0, -1.0, float("nan")])
def test_lambda_is_positive(lambda_):
    with pytest.raises(InputError, match="lambda_ must be a finite number above 0"):
        Blackbox(KINDS["plain"].still(), lambda_=lambda_)
