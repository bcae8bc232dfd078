"""Captured steps on a CPU, where a replay computes the captured operations by hand; on a GPU see ``test_cuda.py``."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from regretless import MAP, MILP, SolutionCache, SPOPlus
from regretless.cache import GapAbove
from regretless.errors import InputError
from regretless.losses import Blackbox, closed_form, step_graphs
from regretless.problem import Problem
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.knapsack.synthetic import knapsack_data

ITEMS, BATCH = 48, 24
LOSSES = {
    "map": MAP,
    "map at the prediction": lambda cache: MAP(cache, cost="c_hat", select="predicted"),
    "spo": SPOPlus,
    "blackbox": lambda cache: Blackbox(cache, lambda_=3.0),
}


class Replay:
    """A graph by hand: it computes what was captured, and writes it to the same place."""

    captured = 0

    def __init__(self, job: Callable[[], Any]) -> None:
        self.job, self.value = job, job()
        Replay.captured += 1

    def replay(self) -> None:
        self.value[0].copy_(self.job()[0])


@pytest.fixture
def replayed(monkeypatch: pytest.MonkeyPatch) -> type[Replay]:
    def capture(job: Callable[[], Any]) -> tuple[Replay, Any]:
        graph = Replay(job)
        return graph, graph.value

    monkeypatch.setattr(closed_form, "captured_on", lambda predicted: True)
    monkeypatch.setattr(step_graphs, "capture", capture)
    monkeypatch.setattr(Replay, "captured", 0)
    return Replay


def knapsacks(days: int = 60) -> tuple[Problem, Tensor, Tensor]:
    _, values, weights = knapsack_data(days)
    problem = knapsack_problem(weights, 120)
    true = torch.as_tensor(values, dtype=torch.float32)
    return problem, true, problem(problem.to_minimization(true))


def steps(loss: Any, true: Tensor, best: Tensor, count: int = 12) -> list[tuple[Tensor, Tensor]]:
    """Values and gradients of steps at random predictions, the same for every loss."""
    generator = torch.Generator().manual_seed(0)
    found = []
    for _ in range(count):
        rows = torch.randperm(len(true), generator=generator)[:BATCH]
        predicted = true[rows] + 30 * torch.randn(BATCH, ITEMS, generator=generator)
        found.append(loss.loss_and_gradient(predicted, true[rows], best[rows]))
    return found


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_a_replay_is_the_step_itself(name, reduction, replayed, monkeypatch):
    """S grows beyond what is reserved on the way, so the columns move and are captured again."""
    problem, true, best = knapsacks()
    caches = [SolutionCache(problem, best[:8], p_solve=0.4, seed=3) for _ in range(2)]
    losses = [LOSSES[name](cache) for cache in caches]
    for loss in losses:
        loss.reduction = reduction
    by_graph = steps(losses[0], true, best)
    assert replayed.captured >= 2
    monkeypatch.setattr(closed_form, "captured_on", lambda predicted: False)
    for (value, gradient), (expected, slope) in zip(by_graph, steps(losses[1], true, best), strict=True):
        assert torch.equal(gradient, slope)
        torch.testing.assert_close(value, expected, atol=1e-3, rtol=1e-5)  # NumPy adds up in another order
    assert torch.equal(caches[0].solutions, caches[1].solutions)
    counted = [
        (c.statistics.asked, c.statistics.solves, c.statistics.lookups, c.statistics.added, c.statistics.hits)
        for c in caches
    ]
    assert counted[0] == counted[1]


def test_a_result_is_not_overwritten_by_the_next_step(replayed):
    problem, true, best = knapsacks()
    found = steps(MAP(SolutionCache(problem, best, p_solve=0.0)), true, best, 4)
    assert len({float(value) for value, _ in found}) == 4
    assert replayed.captured == 1


def test_a_loss_that_changes_its_settings_is_captured_again(replayed):
    problem, true, best = knapsacks()
    loss = Blackbox(SolutionCache(problem, best, p_solve=0.0), lambda_=1.0)
    first = steps(loss, true, best, 3)[-1][1]
    loss.lambda_ = 50.0
    again = steps(loss, true, best, 3)[-1][1]
    assert not torch.equal(first, again)
    assert replayed.captured == 2


def test_shapes_that_never_repeat_are_not_captured(replayed):
    problem, true, best = knapsacks()
    loss = MAP(SolutionCache(problem, best, p_solve=0.0))
    for batch in (3, 4, 3, 4, 3):
        loss.loss_and_gradient(true[:batch] + 1, true[:batch], best[:batch])
    assert replayed.captured == 0


def test_known_costs_are_part_of_a_captured_step(replayed, monkeypatch):
    problem = Problem(MILP([[1.0, 1.0, 1.0]], row_upper=2, fixed_cost=[0.0, 0.5, -2.0]), sense="max")
    true = torch.tensor([[3.0, 1.0, 1.0], [1.0, 1.0, 4.0]])
    best = problem(problem.to_minimization(true))
    predicted = [true + k for k in range(3)]
    losses = [SPOPlus(SolutionCache(problem, best, p_solve=0.5)) for _ in range(2)]
    by_graph = [losses[0].loss_and_gradient(p, true, best) for p in predicted]
    assert replayed.captured
    monkeypatch.setattr(closed_form, "captured_on", lambda predicted: False)
    torch.testing.assert_close(by_graph, [losses[1].loss_and_gradient(p, true, best) for p in predicted])


class Doubled(SPOPlus):
    """A formula that reads a number, which no graph can hold."""

    def value_and_gradient(self, *step: Any) -> tuple[Tensor, Tensor]:
        value, gradient = super().value_and_gradient(*step)
        return value * float(gradient.abs().max()), gradient


@pytest.mark.parametrize(
    "make",
    [
        lambda problem, best: Doubled(SolutionCache(problem, best, p_solve=0.1)),
        lambda problem, best: MAP(SolutionCache(problem, best, p_solve=0.1), objective=lambda s, c: (s * c).sum(-1)),
        lambda problem, best: MAP(SolutionCache(problem, best, p_solve=0.1, grow_at="transformed")),
        lambda problem, best: MAP(SolutionCache(problem, best, policy=GapAbove(0.1))),
        lambda problem, best: MAP(SolutionCache(problem, best, p_solve=0.1, capacity=100)),
        lambda problem, best: MAP(problem),
    ],
    ids=["own formula", "objective", "transformed", "gaps", "capacity", "exact"],
)
def test_steps_that_are_not_alike_are_not_captured(make, replayed):
    problem, true, best = knapsacks()
    assert len(steps(make(problem, best), true, best, 4)) == 4
    assert replayed.captured == 0


def test_bad_arguments_are_refused_before_a_solve(replayed):
    problem, true, best = knapsacks()
    cache = SolutionCache(problem, best, p_solve=1.0)
    solves = problem.statistics.solves
    with pytest.raises(InputError, match="true must have the shape of predicted"):
        MAP(cache).loss_and_gradient(true[:4], true[:3], best[:4])
    with pytest.raises(InputError, match="no family"):
        MAP(cache).loss_and_gradient(true[:4], true[:4], best[:4], torch.zeros(4, dtype=torch.int64))
    assert problem.statistics.solves == solves


def test_a_copy_captures_its_own_steps(replayed):
    problem, true, best = knapsacks()
    loss = MAP(SolutionCache(problem, best, p_solve=0.0))
    steps(loss, true, best, 3)
    again = copy.deepcopy(loss)
    assert not again._graphs._graphs
    assert again._graphs.labels is again._labels
    torch.testing.assert_close(steps(again, true, best), steps(loss, true, best))


def test_a_step_that_cannot_be_captured_is_computed(replayed, monkeypatch):
    def refuse(job: Callable[[], Any]) -> Any:
        job()
        raise RuntimeError("operation not permitted when stream is capturing")

    problem, true, best = knapsacks()
    expected = steps(MAP(SolutionCache(problem, best, p_solve=0.0)), true, best)
    monkeypatch.setattr(step_graphs, "capture", refuse)
    torch.testing.assert_close(steps(MAP(SolutionCache(problem, best, p_solve=0.0)), true, best), expected)


def test_few_graphs_are_kept(replayed):
    problem, true, best = knapsacks()
    loss = MAP(SolutionCache(problem, best, p_solve=0.0))
    for batch in range(2, 12):
        for _ in range(3):
            loss.loss_and_gradient(true[:batch] + 1, true[:batch], best[:batch])
    assert replayed.captured == 10
    assert len(loss._graphs._graphs) == step_graphs.GRAPHS
