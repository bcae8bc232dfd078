"""No engine calls a solution optimal that is worse or infeasible: random models, brute force, four engines."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError, SolveError
from regretless.labels import solve_labels
from regretless.losses import MAP
from regretless.problem import Problem
from regretless.problems.settings import seeded
from regretless.solvers import available, make_engine, names
from regretless.training import fit
from regretless.types import Decisions, Status

from .adversary import SHAPES, Case, brute_force, case, exactly_feasible, value

SAMPLE, ALL = 36, 5000


def usable(engine: str) -> bool:
    if not available()[engine]:
        return False
    try:
        make_engine(engine, case(0).milp)
    except SolveError:  # a license is missing
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


Result = tuple[list[Status], torch.Tensor, torch.Tensor]


def labels_and_weights(given: Case, engine: str, workers: int) -> Result | None:
    """Labels of eight instances with ties, and weights of a short training on them; ``None`` where it is refused."""
    rng = np.random.default_rng(given.seed)
    costs = torch.as_tensor(rng.integers(-2, 3, (8, given.milp.n)).astype(float))
    features = torch.as_tensor(rng.normal(size=(8, 2)), dtype=torch.float32)
    try:
        problem = Problem(given.milp, engine=engine, workers=workers, on_failure="skip")
        solutions, status = solve_labels(problem, costs, progress=False)
    except InputError:
        assert engine == "cpsat"
        return None
    known = ~solutions.isnan().any(dim=1)
    weights = torch.zeros(0)
    if bool(known.any()):
        kept = tuple(s for s, here in zip(status, known.tolist(), strict=True) if here)
        data = Dataset(features[known], costs[known], solutions[known], status=kept)
        model = seeded(lambda: torch.nn.Linear(2, given.milp.n), 0)
        cache = SolutionCache(problem, data.solutions, p_solve=0.5, seed=0)
        fit(model, MAP(cache), data, epochs=2, lr=0.1, batch_size=4, progress=False)
        weights = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    return status, solutions.nan_to_num(nan=1e9), weights


def check_workers(given: Case, engine: str) -> bool:
    """Compare 1, 2 and 4 workers bit for bit; returns whether something was trained."""
    one, *others = (labels_and_weights(given, engine, workers) for workers in (1, 2, 4))
    for other in others:
        assert (one is None) is (other is None)
        if one is not None and other is not None:
            assert other[0] == one[0], given
            assert torch.equal(other[1], one[1]), given
            assert torch.equal(other[2], one[2]), given
    return one is not None and len(one[2]) > 0


@pytest.mark.parametrize("engine", names(integers=True))
def test_labels_and_weights_are_equal_bit_for_bit_for_1_2_and_4_workers(engine: str) -> None:
    if not usable(engine):
        pytest.skip(f"the engine {engine} is not available here")
    assert sum(check_workers(case(seed), engine) for seed in range(3)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("engine", names(integers=True))
def test_labels_and_weights_of_many_models_are_equal_for_1_2_and_4_workers(engine: str) -> None:
    if not usable(engine):
        pytest.skip(f"the engine {engine} is not available here")
    assert sum(check_workers(case(20_000 + seed), engine) for seed in range(200)) > 50
