"""From a decision of the MILP to a schedule that people can read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from regretless.errors import InputError
from regretless.problems.energy.formulation import columns
from regretless.problems.energy.instance import Instance


@dataclass(frozen=True)
class Assignment:
    """Task ``task`` starts in slot ``start`` on machine ``machine`` (ids as in the instance file)."""

    task: int
    machine: int
    start: int


def schedule(instance: Instance, decision: ArrayLike | Tensor) -> list[Assignment]:
    """Read the schedule out of a decision.

    Args:
        instance: what was scheduled.
        decision: ``(n,)`` values of the variables of ``formulate(instance)``.

    Returns:
        One assignment a task, in the order of the instance.

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
