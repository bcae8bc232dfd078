"""Training and solving inside threads, forked and spawned processes, and a running event loop as in a notebook."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch

from regretless.solvers import available, names

from . import small

COSTS = torch.linspace(1.0, 9.0, 40, dtype=torch.float64).reshape(8, 5)
ENGINES = [name for name in names(integers=True) if available()[name]]


def trained(seed: int, workers: int = 2) -> torch.Tensor:
    """Weights of a small run whose cache grows by an engine."""
    fitted, _ = small.train("map-dc", small.problem(workers=workers), small.data(seed=seed))
    return small.weights(fitted)


def solved(problem: Any) -> Any:
    return problem.solve(COSTS).decision.numpy()


def test_runs_in_several_threads_end_as_if_alone() -> None:
    alone = [trained(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(trained, range(4)))
    assert all(map(torch.equal, alone, together))


@pytest.mark.parametrize("engine", ENGINES)
def test_one_problem_serves_several_threads(engine: str) -> None:
    problem = small.problem(engine=engine, workers=2)
    expected = solved(problem)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: solved(problem), range(8)))
    assert all((decisions == expected).all() for decisions in found)
    assert problem.statistics.solves == 9 * len(COSTS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("engine", ENGINES)
def test_a_problem_works_after_a_fork(engine: str) -> None:
    problem = small.problem(engine=engine, workers=2)
    expected = solved(problem)  # its threads do not survive the fork
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        good = b"0"
        try:
            good = b"1" if (solved(problem) == expected).all() else b"0"
        finally:
            os.write(writer, good)
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        assert answers.read() == b"1"
    os.waitpid(child, 0)
    assert (solved(problem) == expected).all(), "the parent is as it was"


@pytest.mark.slow
def test_a_problem_travels_to_a_spawned_process() -> None:
    problem = small.problem(workers=2)
    expected = solved(problem)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert (pool.apply(solved, (problem,)) == expected).all()


def test_training_works_inside_a_running_event_loop() -> None:
    """A notebook runs its cells in one."""

    async def cell() -> list[torch.Tensor]:
        return [trained(0), await asyncio.to_thread(trained, 0)]

    first, second = asyncio.run(cell())
    assert torch.equal(first, trained(0))
    assert torch.equal(second, first)
