from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from regretless.milp import Floats
from regretless.problems.energy import Instance, Machine, Task, read_icon

BruteForce = Callable[[Instance, Floats], float]


@pytest.fixture(scope="session")
def instances_folder() -> Path:
    folder = os.environ.get("REGRETLESS_DATA")
    if not folder:
        pytest.skip("REGRETLESS_DATA names no folder with the public files")
    return Path(folder)


@pytest.fixture(scope="session")
def published(instances_folder: Path) -> Callable[[str], Instance]:
    return lambda name: read_icon(instances_folder / f"{name}.txt")


@pytest.fixture(scope="session")
def crowded() -> Instance:
    """Twelve slots, six tasks that all like the same hours, two machines."""
    rng = np.random.default_rng(3)
    tasks = []
    for j in range(6):
        duration = int(rng.integers(2, 6))
        tasks.append(Task(j, duration, int(rng.integers(0, 3)), 12, 1.0 + j % 3, (float(rng.integers(3, 7)), 1.5)))
    machines = [Machine(m, 0.0, 0.0, 0.0, (capacity, 4.5)) for m, capacity in enumerate((9.0, 7.0))]
    return Instance(120, tuple(machines), tuple(tasks), name="crowded")


@st.composite
def _instances(draw: st.DrawFn) -> Instance:
    """Six slots, few tasks, tight machines: some have no schedule at all."""
    resources = draw(st.integers(1, 2))
    level = st.integers(2, 8).map(float)
    machines = draw(st.lists(st.tuples(*[level] * resources), min_size=1, max_size=2))
    largest = machines[0]
    tasks = []
    for j in range(draw(st.integers(1, 4))):
        duration = draw(st.integers(1, 4))
        earliest = draw(st.integers(0, 6 - duration))
        latest = draw(st.integers(earliest + duration, min(6, earliest + duration + 3)))
        usage = tuple(draw(st.integers(0, int(have))) * 1.0 for have in largest)
        tasks.append(Task(j, duration, earliest, latest, draw(st.integers(0, 4)) * 0.5, usage))
    return Instance(240, tuple(Machine(m, 0, 0, 0, c) for m, c in enumerate(machines)), tuple(tasks))


@pytest.fixture(scope="session")
def small_instances() -> st.SearchStrategy[Instance]:
    return _instances()


@pytest.fixture(scope="session")
def brute_force() -> BruteForce:
    """The least cost over every choice of machines and starts; infinite where none is feasible."""

    def least(instance: Instance, prices: Floats) -> float:
        best = np.inf
        choices = [itertools.product(range(len(instance.machines)), task.starts) for task in instance.tasks]
        for choice in itertools.product(*choices):
            load = np.zeros((len(instance.machines), instance.slots, instance.resources))
            cost = 0.0
            for task, (machine, start) in zip(instance.tasks, choice, strict=True):
                load[machine, start : start + task.duration] += task.usage
                cost += task.power * instance.slot_hours * prices[start : start + task.duration].sum()
            if all((load[m] <= machine.capacity).all() for m, machine in enumerate(instance.machines)):
                best = min(best, cost)
        return best

    return least
