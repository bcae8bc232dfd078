from __future__ import annotations

import re
import warnings
from types import SimpleNamespace

import pytest

from regretless import progress
from regretless import solve_batches as module
from regretless.errors import RegretlessWarning
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.solve_batches import solve_batches

from .terminal import wide_terminal

ENGINE = Problem(MILP([[1.0, 1.0]], row_upper=1.0))
FUNCTION = Problem(oracle=lambda c: c, dimension=2)
WHOLE_BATCHES = knapsack_problem([1.0, 2.0], 2)


class Clock:
    """Time that passes only while a batch is solved."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def sizes(problem: Problem, n: int, clock: Clock, seconds: list[float], **settings: object) -> list[int]:
    """Sizes of the batches, where the k-th one takes ``seconds[k]``, and all later ones as long as the last."""
    found = []
    for part in solve_batches(problem, n, label="solving", progress=False, **{"size": 8} | settings):  # type: ignore[arg-type]
        clock.now += seconds[min(len(found), len(seconds) - 1)]
        found.append(part.stop - part.start)
    return found


@pytest.mark.parametrize("problem", [ENGINE, FUNCTION, WHOLE_BATCHES])
@pytest.mark.parametrize("n", [0, 1, 7, 50])
def test_parts_are_consecutive_and_cover_everything(problem: Problem, n: int) -> None:
    rows = range(n)
    parts = list(solve_batches(problem, n, size=8, label="solving", progress=False))
    assert [row for part in parts for row in rows[part]] == list(rows)
    assert all(0 < part.stop - part.start <= 8 for part in parts)


@pytest.mark.parametrize("problem", [ENGINE, FUNCTION])
def test_fast_solves_come_in_larger_and_larger_batches(problem: Problem, clock: Clock) -> None:
    assert sizes(problem, 31, clock, [0.1]) == [1, 2, 4, 8, 8, 8]


def test_slow_solves_come_one_by_one(clock: Clock) -> None:
    assert sizes(ENGINE, 4, clock, [60.0]) == [1, 1, 1, 1]
    assert sizes(ENGINE, 20, clock, [0.1, 0.1, 0.1, 7.0]) == [1, 2, 4, 8, 4, 1]
    assert sizes(ENGINE, 7, clock, [0.1, 1.0]) == [1, 2, 2, 2], "neither short nor long"


def test_several_workers_get_several_slow_solves_each(clock: Clock) -> None:
    problem = Problem(MILP([[1.0, 1.0]], row_upper=1.0), workers=2)
    assert sizes(problem, 24, clock, [60.0]) == [8, 8, 8]
    assert sizes(problem, 40, clock, [0.1]) == [8, 16, 16]


def test_an_oracle_of_whole_batches_gets_the_same_ones_whatever_they_take(clock: Clock) -> None:
    assert sizes(WHOLE_BATCHES, 20, clock, [60.0]) == [8, 8, 4]
    assert sizes(WHOLE_BATCHES, 20, clock, [0.0], size=None) == [20]


def test_the_bar_counts_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = wide_terminal(monkeypatch)
    monkeypatch.setattr("regretless.progress.sys", SimpleNamespace(stderr=stream))
    list(solve_batches(ENGINE, 50, size=8, label="true optima"))
    assert re.search(r"true optima .* 50/50 0 s left", stream.text)


INTEGER, LINEAR = MILP([[1.0, 1.0]], row_upper=1.0), MILP([[1.0, 1.0]], row_upper=1.0, integer=False)
CORES = r"workers=8 \(--workers 8\) solves on all 8 cores of this machine\."
GAP = r"gap=0.001 \(--gap 0.001\) ends a solve within 0.1% of the optimum\."


def solve(problem: Problem, monkeypatch: pytest.MonkeyPatch, *, n: int = 1000, seconds: float = 1.0) -> None:
    """Go through ``n`` instances of which each takes ``seconds`` on a machine with eight cores."""
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    monkeypatch.setattr(module, "cores", lambda: 8)
    for part in solve_batches(problem, n, size=1, label="solving", progress=False):
        clock.now += seconds * (part.stop - part.start)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (Problem(INTEGER), f"the solves take about 16 min more. {CORES} {GAP}$"),
        (Problem(INTEGER, workers=2), f"more. {GAP}$"),
        (Problem(INTEGER, gap=0.1), f"more. {CORES}$"),
        (Problem(LINEAR), f"more. {CORES}$"),
    ],
)
def test_long_solves_are_announced_once_with_what_makes_them_faster(
    problem: Problem, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.warns(RegretlessWarning, match=message) as said:
        solve(problem, monkeypatch)
    assert len(said) == 1


@pytest.mark.parametrize(
    "problem",
    [
        Problem(INTEGER, workers=2, gap=0.1),
        Problem(LINEAR, engine="batched-lp"),
        Problem(oracle=lambda c: c == c.min(), dimension=2),
    ],
)
def test_where_nothing_helps_nothing_is_said(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(problem, monkeypatch)


@pytest.mark.parametrize(("n", "seconds"), [(100, 1.0), (10_000, 0.01)])
def test_short_solves_are_not_announced(n: int, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(Problem(INTEGER), monkeypatch, n=n, seconds=seconds)
