"""The special exact oracle of energy-cost-aware scheduling."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.milp import MILP, Floats
from regretless.problems.energy.branching import Found, search
from regretless.problems.energy.conflicts import Conflicts
from regretless.problems.energy.formulation import columns, formulate, schedule
from regretless.problems.energy.instance import Instance
from regretless.problems.energy.packing import TooHardError
from regretless.solvers import EnginePool
from regretless.solvers.time_limit import limit_or_none
from regretless.types import Solved, Status

Starts = NDArray[np.int64]


def window_sums(costs: Floats, lengths: Sequence[int]) -> dict[int, Floats]:
    """Sums of ``length`` consecutive columns of ``costs (batch, slots)``: ``{length: (batch, slots - length + 1)}``.

    Windows are composed of windows whose length is a power of two. Prefix sums would lose small prices beside a huge
    one, and a matrix product rounds differently depending on the batch size.
    """
    slots = costs.shape[1]
    doubled = [costs]
    while 2 ** len(doubled) <= max(lengths):
        half, size = doubled[-1], 2 ** (len(doubled) - 1)
        doubled.append(half[:, : slots - 2 * size + 1] + half[:, size : slots - size + 1])
    sums = {}
    for length in lengths:
        width, at, total = slots - length + 1, 0, None
        for power, part in enumerate(doubled):
            if length >> power & 1:
                piece = part[:, at : at + width]
                total, at = piece if total is None else total + piece, at + 2**power
        assert total is not None, "a length is at least 1"
        sums[length] = total
    return sums


def without_overflow(costs: Floats) -> Floats:
    """Scale rows whose sums would overflow by a power of two, which does not change their optima."""
    if not costs.size or np.abs(costs).max() < 2.0**900:
        return costs
    return np.where(np.abs(costs).max(axis=1, keepdims=True) < 2.0**900, costs, costs * 2.0**-200)


class EnergyOracle:
    """Schedule exactly, ten to a thousand times faster than the MILP.

    The cost does not depend on the machines, so each task takes its cheapest start (ties: the earliest). If these
    starts fit on the machines, the schedule is optimal. Otherwise a search over start times finds the cheapest ones
    that fit; the MILP is solved if the search exceeds its budget. An answer depends on its own costs only, not on the
    batch and not on earlier solves.

    Args:
        instance: machines and tasks.
        model: ``formulate(instance)``, if it is available.
        time_limit: seconds per solve that needs a search.
    """

    def __init__(self, instance: Instance, *, model: MILP | None = None, time_limit: float | None = None) -> None:
        time_limit = limit_or_none(time_limit)
        self.instance, self.time_limit = instance, time_limit
        self._model = model
        self._pool: EnginePool | None = None
        self._conflicts = Conflicts(instance)
        self._durations = sorted({task.duration for task in instance.tasks})
        self._windows = [(task.duration, task.starts.start, task.starts.stop) for task in instance.tasks]
        # The energies of all tasks by slot in one row. Each task begins with as many zeros as its latest start has
        # slots before it, so that every other start is the same row read from another offset.
        rows = [np.zeros(task.starts[-1] + instance.slots) for task in instance.tasks]
        for task, row in zip(instance.tasks, rows, strict=True):
            row[task.starts[-1] : task.latest] = task.power * instance.slot_hours
        self._energy = np.concatenate(rows)
        begins = np.cumsum([0, *map(len, rows[:-1])]) + np.array([task.starts[-1] for task in instance.tasks])
        self._at = begins[:, None] + np.arange(instance.slots)

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, slots)`` prices; see ``regretless.types.Backend``."""
        rows = costs.detach().cpu().to(torch.float64).numpy()
        windows = window_sums(without_overflow(rows), self._durations)
        starts = self._cheapest(windows, len(rows))
        searched: dict[int, Found] = {}
        for k, chosen in enumerate(map(tuple, starts.tolist())):
            found = self._resolve(chosen, windows, rows, k)
            if found is not None:
                searched[k] = found
                if found.starts is not None:
                    starts[k] = found.starts
        return self._gather(starts, searched, costs, decision)

    def _cheapest(self, windows: dict[int, Floats], batch: int) -> Starts:
        """The cheapest start of each task by itself: ``(batch, tasks)``."""
        starts = np.empty((batch, len(self.instance.tasks)), dtype=np.int64)
        for j, (duration, first, stop) in enumerate(self._windows):
            starts[:, j] = windows[duration][:, first:stop].argmin(axis=1) + first
        return starts

    def _resolve(self, chosen: tuple[int, ...], windows: dict[int, Floats], rows: Floats, k: int) -> Found | None:
        """Return what replaces the cheapest starts of row ``k``; ``None`` if they fit on the machines."""
        try:
            if not self._conflicts.find(chosen):
                return None
            options = []
            for task in self.instance.tasks:
                sums = windows[task.duration][k].tolist()
                options.append(sorted((task.power * sums[start], start) for start in task.starts))
            return search(self._conflicts, options, time_limit=self.time_limit)
        except TooHardError:
            return self._solve_model(rows[k : k + 1])

    def _solve_model(self, row: Floats) -> Found:
        """Solve one row as the MILP."""
        if self._pool is None:
            self._model = self._model or formulate(self.instance)
            self._pool = EnginePool(self._model, time_limit=self.time_limit)
        solved = self._pool.solve(torch.as_tensor(row), decision=True)
        status, message = solved.statuses[0], solved.message.get(0, "")
        if solved.decision is None or not solved.found[0]:
            return Found(None, status, float("inf"), message=message)
        chosen = schedule(self.instance, solved.decision[0])
        position = {machine.id: m for m, machine in enumerate(self.instance.machines)}
        machines = {j: position[assignment.machine] for j, assignment in enumerate(chosen)}
        gap = 0.0 if solved.gap is None else float(solved.gap[0])
        return Found(tuple(assignment.start for assignment in chosen), status, gap, machines, message)

    def _gather(self, starts: Starts, searched: dict[int, Found], costs: Tensor, decision: bool) -> Solved:
        solution = np.zeros((len(starts), self.instance.slots))
        energy = self._energy[self._at - starts[:, :, None]]
        # One task after the other: a sum over an axis may round differently depending on the batch size.
        for j in range(starts.shape[1]):
            solution += energy[:, j]
        solution[[k for k, found in searched.items() if found.starts is None]] = np.nan
        failed = {k: found for k, found in searched.items() if found.status is not Status.OPTIMAL}
        plain = Found(None, Status.OPTIMAL)
        ends = [failed.get(k, plain) for k in range(len(starts))]
        status, gaps = [end.status for end in ends], [end.gap for end in ends]
        message = {k: _message(found) for k, found in failed.items()}
        x = self._decisions(starts, searched) if decision else None
        return Solved.of_arrays(costs.device, solution, status, gaps, message, x)

    def _decisions(self, starts: Starts, searched: dict[int, Found]) -> Floats:
        """Convert starts to decisions of the MILP, with the machines from the packing."""
        first = columns(self.instance)
        x = np.zeros((len(starts), first[-1]))
        for k, chosen in enumerate(map(tuple, starts.tolist())):
            found = searched.get(k)
            if found is not None and found.starts is None:
                x[k] = np.nan
                continue
            machines = None if found is None else found.machines
            for j, machine in (machines or self._conflicts.machines(chosen)).items():
                task = self.instance.tasks[j]
                x[k, first[j] + machine * len(task.starts) + chosen[j] - task.earliest] = 1.0
        return x


def _message(found: Found) -> str:
    if found.status is Status.INFEASIBLE:
        return "no schedule fits all tasks on the machines inside their time windows"
    return found.message or f"the search ended with '{found.status}'"
