"""A small problem with solvers that keep what they were called at, and heads as a test says."""

from __future__ import annotations

import itertools

import numpy as np
import torch

from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.types import Solved, Status

WEIGHTS = [3.0, 4.0, 5.0, 2.0]
MODEL = MILP([WEIGHTS], row_upper=8.0)
POINTS = torch.tensor([x for x in itertools.product([0.0, 1.0], repeat=4) if np.dot(x, WEIGHTS) <= 8])


class Recorder:
    """An exact brute-force solver that keeps the costs it was called at and fails where a test says so."""

    def __init__(self, points: torch.Tensor = POINTS, fails=None) -> None:
        self.points, self.fails = points, fails
        self.costs: list[torch.Tensor] = []

    def solve(self, costs, instance=None, *, decision=False):
        self.costs.append(costs.clone())
        solution = self.points[(costs.double() @ self.points.double().T).argmin(dim=1)].double()
        status, message = [], {}
        for row in range(len(costs)):
            bad = self.fails is not None and bool(self.fails(costs[row]))
            status.append(Status.ERROR if bad else Status.OPTIMAL)
            if bad:
                solution[row], message[row] = torch.nan, "fails by design"
        return Solved(solution, status if message else None, message=message)


class Raiser:
    """A solver that must not be called."""

    def solve(self, costs, instance=None, *, decision=False):
        raise AssertionError("the solver was called")


class Scripted:
    """Heads as the test says."""

    def __init__(self, *masks: list[bool]) -> None:
        self.masks = list(masks)

    def choose(self, batch, generator):
        return np.array(self.masks.pop(0))


def problem(recorder, **settings) -> Problem:
    return Problem(MODEL, oracle=recorder, **settings)


def exact(costs: torch.Tensor, points: torch.Tensor = POINTS) -> torch.Tensor:
    return points[(costs @ points.T).argmin(dim=1)]


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


LIMITS = (2.0, 5.0, 9.0)


def family(**settings) -> Problem:
    return Problem(Family([MILP([WEIGHTS], row_upper=limit) for limit in LIMITS]), **settings)
