from __future__ import annotations

import resource
import tracemalloc

import numpy as np
import pytest
import torch

from regretless.cache import SolutionCache
from regretless.cache.store import SolutionStore
from regretless.data import Dataset
from regretless.errors import SolveError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.energy import EnergyOracle, Instance, Machine, Task, formulate
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.matching.oracle import MatchingOracle
from regretless.training import methods

from . import small

LOSSES = [name for name in methods.names() if methods.method(name).search is None and name != "auto"]


def labelled(costs: torch.Tensor) -> Dataset:
    chance = torch.Generator().manual_seed(0)
    return Dataset.solve(small.problem(), torch.randn(len(costs), 5, 3, generator=chance), costs.double())


def random_costs(n: int = 6) -> torch.Tensor:
    return 1 + 4 * torch.rand(n, 5, generator=torch.Generator().manual_seed(1))


CASES = {
    "huge": 1e12 * random_costs(),
    "tiny": 1e-12 * random_costs(),
    "equal": torch.full((6, 5), 3.0),
    "zero": torch.zeros(6, 5),
    "duplicates": random_costs(1).repeat(6, 1),
    "ties": torch.tensor([[4.0, 4.0, 5.0, 5.0, 4.0]]).repeat(6, 1),
}


SIMILAR = ("equal", "duplicates")  # zero costs are equal, and rows of ties are duplicates


@pytest.mark.filterwarnings("ignore:AdaptiveImplicitMLE has no gradient")  # of the case zero
@pytest.mark.parametrize("case", [pytest.param(case, marks=[pytest.mark.slow] * (case in SIMILAR)) for case in CASES])
@pytest.mark.parametrize("name", map(small.fast_if_of_its_kind, LOSSES))
def test_costs_of_any_size_train_and_stay_finite(name: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = labelled(CASES[case])
    problem = small.problem()
    predicted = (given.costs * 1.1 + given.costs.abs().max() * 0.05).requires_grad_()
    # The cut-off is in the units of the costs: beside 1e12 one of 0.1 is zero.
    more = {"cutoff": 0.1 * float(given.costs.abs().max().clamp(min=1.0))} if name == "interior" else {}
    loss = methods.make_loss(name, problem, given, **(small.settings_of(name) | more))
    value = loss(predicted, given.costs, given.solutions)
    assert torch.isfinite(value)
    if value.requires_grad:
        (gradient,) = torch.autograd.grad(value, predicted)
        assert torch.isfinite(gradient).all()
    with monkeypatch.context() as patched:
        patched.setitem(small.SETTINGS, name, small.SETTINGS.get(name, {}) | more)
        fitted, _ = small.train(name, small.problem(), given, epochs=1)
    assert torch.isfinite(small.weights(fitted)).all()


def test_a_cutoff_that_is_nothing_beside_the_costs_gives_an_answer_or_its_cause() -> None:
    given = labelled(CASES["huge"])
    loss = methods.make_loss("interior", small.problem(), given, cutoff=0.1)
    said = ""
    try:
        # 1e-13 of the costs is at the end of double precision: rounding decides whether it is reached
        value = loss(given.costs * 1.1 + given.costs.abs().max() * 0.05, given.costs, given.solutions)
        assert torch.isfinite(value)
    except SolveError as error:
        said = str(error)
    assert not said or "a cutoff above 1e-12 of the costs" in said


# Losses that are positively homogeneous in the costs, of this degree: then scale changes nothing but the unit.
HOMOGENEOUS = {
    "spo": 1, "spo-relax": 1, "spo-cache": 1, "nce-c": 1, "nce-dc": 1, "nce-2c": 1, "map-c": 1, "map-dc": 1,
    "map-2c": 1, "soft": 1, "two-stage": 2, "pointwise": 2, "pairwise-difference": 2, "pairwise": 1,
}  # fmt: skip


@pytest.mark.parametrize("scale", [2.0**40, 2.0**-40])
@pytest.mark.parametrize("name", HOMOGENEOUS)
def test_a_loss_scales_with_its_costs(name: str, scale: float) -> None:
    given = labelled(random_costs())
    noise = 2 * torch.randn(6, 5, generator=torch.Generator().manual_seed(2), dtype=torch.float64)

    def value(by: float) -> float:
        loss = methods.make_loss(name, small.problem(), given, **small.settings_of(name))
        return float(loss(by * (given.costs + noise), by * given.costs, given.solutions))

    assert value(scale) == pytest.approx(scale ** HOMOGENEOUS[name] * value(1.0), rel=1e-5, abs=0.0)
    assert value(1.0) != 0.0


WITHOUT_NOISE = [name for name in LOSSES if "samples" not in methods.TABLE[name].options]  # noise differs by precision


@pytest.mark.parametrize("name", WITHOUT_NOISE)
def test_single_and_double_precision_agree(name: str) -> None:
    given = labelled(random_costs())
    noise = torch.randn(6, 5, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    found = []
    for dtype in (torch.float32, torch.float64):
        predicted = (given.costs + noise).to(dtype).requires_grad_()
        loss = methods.make_loss(name, small.problem(), given, **small.settings_of(name))
        value = loss(predicted, given.costs.to(dtype), given.solutions.to(dtype))
        value.backward()
        found.append((value.detach().double(), predicted.grad.double()))
    (single, single_gradient), (double, double_gradient) = found
    assert torch.allclose(single, double, rtol=1e-4, atol=1e-5)
    assert torch.allclose(single_gradient, double_gradient, rtol=1e-3, atol=1e-4)


def test_a_look_up_needs_no_more_memory_for_a_larger_batch_than_its_answer() -> None:
    store = SolutionStore(20)
    store.add(torch.rand(4000, 20))
    costs = torch.randn(20_000, 20)
    scores = len(costs) * len(store) * 4
    peak = _peak(lambda: store.look_up(costs))
    assert peak < scores / 4, f"{peak / 2**20:.0f} MiB for scores that would take {scores / 2**20:.0f} MiB"


def test_a_family_of_many_instances_is_checked_in_bounded_memory() -> None:
    family = Family([MILP([[1.0] * 10], row_upper=float(k % 7 + 4)) for k in range(400)])
    problem = Problem(family)
    solutions = (torch.rand(3000, 10, generator=torch.Generator().manual_seed(0)) < 0.4).double()
    cache = SolutionCache(problem, p_solve=0.0)
    mask = 400 * 3000
    peak = _peak(lambda: cache.add(solutions, torch.full((3000,), 6)))
    assert peak < 100 * mask, f"{peak / 2**20:.0f} MiB"


def _peak(work) -> int:
    """Most bytes that torch's and Python's allocators hold at once, beyond what they hold before."""
    work_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    try:
        work()
        python = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return max(python, 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - work_before))


def special_oracles() -> dict[str, tuple[Problem, torch.Tensor]]:
    """The exact oracles of the problems that come with the library, with minimizing costs."""
    chance = np.random.default_rng(5)
    weights = chance.integers(3, 8, 48)
    same = chance.random((1, 8, 8)) < 0.5
    tasks = tuple(Task(j, 3, j % 3, 12, 1.0 + j % 3, (3.0 + j % 4,)) for j in range(6))
    day = Instance(120, tuple(Machine(m, 0.0, 0.0, 0.0, (8.0,)) for m in range(2)), tasks)
    knapsack = knapsack_problem(weights, 60)
    energy = Problem(formulate(day), oracle=EnergyOracle(day))
    matching = Problem(oracle=MatchingOracle(same, 0.25, 0.25), dimension=64, instances=1)
    return {
        "knapsack": (knapsack, -torch.rand(8, 48, dtype=torch.float64)),
        "energy": (energy, torch.rand(8, 12, dtype=torch.float64)),
        "matching": (matching, -torch.rand(8, 64, dtype=torch.float64)),
    }


@pytest.mark.parametrize("power", [-40, 40])
@pytest.mark.parametrize("name", ["knapsack", "energy", "matching"])
def test_the_size_of_costs_changes_no_answer_of_a_special_oracle(name: str, power: int) -> None:
    problem, costs = special_oracles()[name]
    ids = torch.zeros(8, dtype=torch.int64) if problem.is_family else None
    expected, solved = problem.attempt(costs, ids), problem.attempt(costs * 2.0**power, ids)
    assert expected.status is None
    assert solved.status is None
    value = (costs * solved.solution).sum(dim=1)
    assert torch.allclose(value, (costs * expected.solution).sum(dim=1), rtol=1e-9, atol=0.0)
