"""The paper's MILP of energy-cost-aware scheduling, and the schedule that a decision of it describes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from torch import Tensor

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.problems.energy.instance import Instance

# The arrays of a model of this size take a few gigabytes; a larger one comes from a damaged file or needs longer slots.
LARGEST = 50_000_000


@dataclass(frozen=True)
class Assignment:
    """Task ``task`` starts in slot ``start`` on machine ``machine`` (ids as in the instance file)."""

    task: int
    machine: int
    start: int


def formulate(instance: Instance) -> MILP:
    """Write an instance as the MILP of the paper's appendix.

    ``min_x sum_jmt x_jmt sum_{t <= t' < t + d_j} p_j c_t'`` over prices ``c``.

    ``x_jmt`` is 1 if task j starts in slot t on machine m. Each task starts once, inside its time window (other
    variables are not created); on each machine the running tasks stay within the capacity of each resource in each
    slot. The cost map takes a decision to the energy bought in each slot, ``power x hours``: the cost space has one
    coordinate per slot.

    Returns:
        The model, with variables named ``task_machine_start`` in the order of ``columns``.

    Raises:
        InputError: the model would be too large for the memory.
    """
    tasks, slots, resources = instance.tasks, instance.slots, instance.resources
    machines = len(instance.machines)
    offset = columns(instance)
    n = int(offset[-1])
    entries = resources * machines * sum(len(t.starts) * t.duration for t in tasks)
    if entries > LARGEST:
        raise InputError(f"the model must have at most {LARGEST} coefficients, got {entries}; use longer slots")
    task = np.repeat(np.arange(len(tasks)), np.diff(offset))
    machine = np.concatenate([np.repeat(np.arange(machines), len(t.starts)) for t in tasks])
    start = np.concatenate([np.tile(np.arange(t.starts.start, t.starts.stop), machines) for t in tasks])

    # One entry per slot that a variable covers.
    duration = np.array([t.duration for t in tasks])[task]
    column = np.repeat(np.arange(n), duration)
    slot = start[column] + np.arange(len(column)) - np.repeat(np.cumsum(duration) - duration, duration)
    usage = np.array([t.usage for t in tasks])[task[column]]
    row = (machine[column, None] * resources + np.arange(resources)) * slots + slot[:, None]
    capacity_rows = sparse.csr_array(
        (usage.ravel(), (row.ravel(), np.repeat(column, resources))), shape=(machines * resources * slots, n)
    )
    task_rows = sparse.csr_array((np.ones(n), (task, np.arange(n))), shape=(len(tasks), n))
    energy = np.array([t.power for t in tasks])[task[column]] * instance.slot_hours
    capacity = np.repeat(np.array([m.capacity for m in instance.machines]).ravel(), slots)
    return MILP(
        sparse.vstack([task_rows, capacity_rows], format="csr"),
        row_lower=np.concatenate([np.ones(len(tasks)), np.full(len(capacity), -np.inf)]),
        row_upper=np.concatenate([np.ones(len(tasks)), capacity]),
        cost_map=sparse.csr_array((energy, (slot, column)), shape=(slots, n)),
        names=tuple(f"{t.id}_{m.id}_{s}" for t in tasks for m in instance.machines for s in t.starts),
    )


def columns(instance: Instance) -> NDArray[np.int64]:
    """First column of each task, and the total number of columns.

    ``x_jmt`` is column ``first[j] + m * (number of starts of j) + (t - earliest_j)``.
    """
    sizes = [len(task.starts) * len(instance.machines) for task in instance.tasks]
    return np.concatenate([[0], np.cumsum(np.array(sizes, dtype=np.int64))])


def schedule(instance: Instance, decision: ArrayLike | Tensor) -> list[Assignment]:
    """Read the schedule from a decision.

    Args:
        instance: the scheduled instance.
        decision: ``(n,)`` values of the variables of ``formulate(instance)``.

    Returns:
        One assignment per task, in the order of the instance.

    Raises:
        InputError: the decision has another length or does not start every task exactly once.
    """
    x = np.asarray(decision.detach().cpu() if isinstance(decision, Tensor) else decision, dtype=np.float64)
    first = columns(instance)
    if x.shape != (first[-1],):
        raise InputError(f"decision must have shape ({first[-1]},), got {x.shape}")
    assignments = []
    for task, begin, end in zip(instance.tasks, first[:-1], first[1:], strict=True):
        chosen = np.flatnonzero(x[begin:end] > 0.5)
        if len(chosen) != 1:
            raise InputError(f"decision must start task {task.id} exactly once, got {len(chosen)} starts")
        machine, start = divmod(int(chosen[0]), len(task.starts))
        assignments.append(Assignment(task.id, instance.machines[machine].id, task.earliest + start))
    return assignments
