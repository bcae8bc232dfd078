from __future__ import annotations

import warnings
from types import SimpleNamespace

import pytest

from regretless import long_solves
from regretless.errors import RegretlessWarning
from regretless.long_solves import advise
from regretless.milp import MILP
from regretless.problem import Problem

INTEGER, LINEAR = MILP([[1.0, 1.0]], row_upper=1.0), MILP([[1.0, 1.0]], row_upper=1.0, integer=False)
CORES = r"workers=8 \(--workers 8\) solves on all 8 cores of this machine\."
GAP = r"gap=0.001 \(--gap 0.001\) ends a solve within 0.1% of the optimum\."


def solve(problem: Problem, monkeypatch: pytest.MonkeyPatch, *, n: int = 1000, seconds: float = 1.0) -> None:
    """Go through ``n`` instances of which each takes ``seconds`` on a machine with eight cores."""
    now = [0.0]
    monkeypatch.setattr(long_solves, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(long_solves, "cores", lambda: 8)
    parts = [slice(k, k + 1) for k in range(n)]
    for k, part in enumerate(advise(iter(parts), n, problem)):
        assert part == parts[k]
        now[0] += seconds


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
