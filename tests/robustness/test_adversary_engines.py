"""No engine calls a solution optimal that is worse or infeasible: random models, brute force, four engines."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from regretless.errors import InputError, SolveError
from regretless.labels import solve_labels
from regretless.problem import Problem
from regretless.solvers import available, make_engine, names
from regretless.types import Decisions, Status

from .adversary import SHAPES, Case, brute_force, case, exactly_feasible, value

SAMPLE, ALL = 108, 5000


def usable(engine: str) -> bool:
    if not available()[engine]:
        return False
    try:
        make_engine(engine, case(0).milp)
    except SolveError:  # a licence is missing
        return False
    return True


@pytest.fixture(scope="module")
def engines() -> list[str]:
    return [name for name in names(integers=True) if usable(name)]


def solved(given: Case, engine: str) -> Decisions | None:
    """Solve by the path that users take: some seeds maximize, some have known costs; ``None`` where it is refused."""
    milp, costs = given.milp, given.costs
    if given.seed // len(SHAPES) % 3 == 0 and (costs == np.round(costs)).all() and np.abs(costs).max(initial=0.0) < 1e6:
        known = np.arange(milp.n) % 3 - 1.0
        milp, costs = replace(milp, fixed_cost=known, constant=5.0), costs - known
    sense = "min" if given.seed % 2 else "max"
    if sense == "max":
        costs = -costs
        milp = replace(milp, fixed_cost=-milp.fixed_cost, constant=-milp.constant)
    try:
        return Problem(milp, sense=sense, engine=engine, time_limit=20.0).solve(costs[None])
    except InputError:
        assert engine == "cpsat", given
        return None


def tolerance(given: Case, x: np.ndarray) -> Fraction:
    """None for integer data; elsewhere 1e-6 of the terms that the objective adds up."""
    if given.milp.integer.all() and (given.costs == np.round(given.costs)).all():
        return Fraction(0)
    return Fraction(1, 10**6) * Fraction(float(np.abs(given.costs) @ np.maximum(1.0, np.abs(x))))


def check(given: Case, engines: list[str]) -> int:
    """Compare the engines with each other and with brute force; return how many called their answer optimal."""
    outcomes = {name: decisions for name in engines if (decisions := solved(given, name)) is not None}
    points = {}
    for name, decisions in outcomes.items():
        x = decisions.decision[0].numpy()
        if np.isfinite(x).all():
            assert exactly_feasible(given.milp, x), f"{name} answers {x.tolist()}: {given}"
            points[name] = x
    truth = brute_force(given)
    known = [value(given.costs, x) for x in points.values()]
    best = min([*known, *([truth[1]] if truth and truth[1] is not None else [])], default=None)
    for name, decisions in outcomes.items():
        status = decisions.status[0]
        if status is Status.ERROR:
            assert "CP-SAT needs integer costs" in decisions.message[0], f"{name} {decisions.message}: {given}"
        if status is Status.OPTIMAL:
            x = points[name]
            assert best is not None
            assert value(given.costs, x) <= best + tolerance(given, x), f"{name} answers {x.tolist()}: {given}"
        if status in (Status.FEASIBLE, Status.TIME_LIMIT) and name in points and best is not None:
            mine, gap = value(given.costs, points[name]), float(decisions.gap[0])
            assert mine - best <= Fraction(min(gap, 1e300)) * abs(mine) + tolerance(given, points[name]), (
                f"{name}: {given}"
            )
        if status is Status.INFEASIBLE:
            assert best is None, f"{name} calls it infeasible: {given}"
        if truth is not None:
            assert status is not Status.UNBOUNDED, f"{name} calls it unbounded: {given}"
            assert truth[0] or status is Status.INFEASIBLE, f"{name} says {status}: {given}"
    return sum(decisions.status[0] is Status.OPTIMAL for decisions in outcomes.values())


def test_a_sample_of_random_models(engines: list[str]) -> None:
    optimal = sum(check(case(seed), engines) for seed in range(SAMPLE))
    assert optimal > 0.7 * SAMPLE * (len(engines) - 1), "most of them must be solved, or nothing is tested"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, ALL, 500))
def test_five_thousand_random_models(engines: list[str], first: int) -> None:
    for seed in range(first, first + 500):
        check(case(10_000 + seed), engines)


@pytest.mark.slow
@pytest.mark.parametrize("engine", names(integers=True))
def test_labels_are_equal_bit_for_bit_for_any_number_of_workers(engine: str) -> None:
    if not usable(engine):
        pytest.skip(f"the engine {engine} is not available here")
    rng = np.random.default_rng(1)
    for seed in range(180):
        milp = case(seed).milp
        costs = torch.as_tensor(rng.integers(-2, 3, (8, milp.n)).astype(float))  # ties everywhere
        labels = []
        for workers in (1, 2, 4):
            try:
                problem = Problem(milp, engine=engine, workers=workers, on_failure="skip")
                labels.append(solve_labels(problem, costs, progress=False))
            except InputError:
                assert engine == "cpsat"
        for solutions, status in labels[1:]:
            assert status == labels[0][1]
            assert torch.equal(solutions.nan_to_num(nan=1e9), labels[0][0].nan_to_num(nan=1e9)), case(seed)
