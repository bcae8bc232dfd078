"""Exact packing: whether tasks that run at the same time fit on the machines, and how."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add, gt
from typing import Any

from regretless.problems.energy.instance import Instance, limit

# Bounds memory only: answers do not depend on what is memoized.
REMEMBERED = 200_000
# Beyond this many trials the MILP is solved instead. Trials are counted, not timed: the same on every machine.
TRIALS = 200_000

Cliques = tuple[int, ...]
Loads = tuple[float, ...]


class TooHardError(Exception):
    """A search that exceeded its budget; the caller solves the MILP instead."""


class Packer:
    """Assign tasks to machines such that every set of tasks that run together fits.

    A set of tasks is a bit mask over positions in ``instance.tasks``. A query is a tuple of such sets ("cliques"): the
    tasks of one clique run together in one slot, and a task keeps its machine in all of its cliques. Whether they fit
    does not depend on the time of the slots, so thousands of cost vectors lead to few different queries.
    """

    def __init__(self, instance: Instance) -> None:
        self._usage = [task.usage for task in instance.tasks]
        self._limits = [tuple(map(limit, machine.capacity)) for machine in instance.machines]
        self._total = tuple(sum(values) for values in zip(*self._limits, strict=True))
        share = [max(u / max(c, 1e-300) for u, c in zip(task, self._total, strict=True)) for task in self._usage]
        # Large tasks first: failures show early.
        self._order = sorted(range(len(share)), key=lambda j: (-share[j], j))
        self._known: dict[Cliques, dict[int, int] | TooHardError | None] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_known": {}}

    def machines(self, cliques: Cliques) -> dict[int, int] | None:
        """Return ``{task: machine}`` by position for all tasks in the cliques, or ``None`` if they do not fit.

        Raises:
            TooHardError: the query exceeded its budget of trials.
        """
        if cliques not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            try:
                self._known[cliques] = self._search(cliques)
            except TooHardError as error:
                self._known[cliques] = error
        answer = self._known[cliques]
        if isinstance(answer, TooHardError):
            raise TooHardError
        return answer

    def packs(self, cliques: Cliques) -> bool:
        """Whether the cliques fit on the machines."""
        return self.machines(cliques) is not None

    def minimal(self, cliques: Cliques, order: Sequence[int]) -> Cliques:
        """Drop tasks, tried in ``order``, from cliques that do not fit, as long as the rest still does not fit."""
        for j in order:
            fewer = tuple(clique & ~(1 << j) for clique in cliques)
            if fewer != cliques and not self.packs(fewer):
                cliques = fewer
        return cliques

    def _search(self, cliques: Cliques) -> dict[int, int] | None:
        tasks = [j for j in self._order if any(clique >> j & 1 for clique in cliques)]
        for clique in cliques:
            used = zip(*(self._usage[j] for j in tasks if clique >> j & 1), strict=True)
            if any(map(gt, map(sum, used), self._total)):
                return None
        # The load that a task adds to its machine: one number per clique and resource.
        added = [tuple(u if clique >> j & 1 else 0.0 for clique in cliques for u in self._usage[j]) for j in tasks]
        limits = [one * len(cliques) for one in self._limits]
        loads: list[Loads] = [(0.0,) * len(most) for most in limits]
        chosen: list[int] = []
        trials = 0

        def place() -> bool:
            nonlocal trials
            if len(chosen) == len(tasks):
                return True
            tried: set[tuple[Loads, Loads]] = set()
            for machine, most in enumerate(limits):
                trials += 1
                if trials > TRIALS:
                    raise TooHardError
                before = loads[machine]
                if tried and (most, before) in tried:  # equal to a machine that failed
                    continue
                after = tuple(map(add, before, added[len(chosen)]))
                if not any(map(gt, after, most)):
                    loads[machine] = after
                    chosen.append(machine)
                    if place():
                        return True
                    chosen.pop()
                    loads[machine] = before
                tried.add((most, before))
            return False

        return dict(zip(tasks, chosen, strict=True)) if place() else None
