"""Conflicts of start times: small sets of tasks of which at least one must move."""

from __future__ import annotations

from typing import Any

from regretless.problems.energy.instance import Instance, Task
from regretless.problems.energy.packing import REMEMBERED, Cliques, Packer

# Tasks, each with the bit mask of the start slots that make it part of the conflict.
Conflict = tuple[tuple[int, int], ...]


class Conflicts:
    """Find the conflicts of start times; results are memoized, which does not change them."""

    def __init__(self, instance: Instance) -> None:
        self.packer = Packer(instance)
        self._slots = instance.slots
        self._durations = [task.duration for task in instance.tasks]
        size = [sum(task.usage) for task in instance.tasks]
        self._by_size = sorted(range(len(size)), key=lambda j: (size[j], j))
        self._covering = [[_covering(task, slot) for slot in range(instance.slots)] for task in instance.tasks]
        self._known: dict[tuple[int, ...], tuple[Conflict, ...]] = {}
        self._smallest: dict[int, tuple[int, ...]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_known": {}, "_smallest": {}}

    def find(self, starts: tuple[int, ...]) -> tuple[Conflict, ...]:
        """Return the conflicts, *each* of which must be resolved; none if the starts fit on the machines.

        In every feasible schedule at least one task of a conflict starts outside its mask.
        """
        found = self._known.get(starts)
        if found is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
                self._smallest.clear()
            found = self._known[starts] = self._find(starts)
        return found

    def machines(self, starts: tuple[int, ...]) -> dict[int, int]:
        """Return ``{task: machine}`` for starts that fit on the machines."""
        machines = self.packer.machines(_maximal(self._running(starts))[0])
        assert machines is not None, "called only for starts without conflicts"
        return machines

    def _running(self, starts: tuple[int, ...]) -> list[int]:
        """For each slot, the bit mask of the tasks that run in it."""
        change = [0] * (self._slots + 1)
        for j, (start, duration) in enumerate(zip(starts, self._durations, strict=True)):
            change[start] ^= 1 << j
            change[start + duration] ^= 1 << j
        running = 0
        return [running := running ^ flip for flip in change[:-1]]

    def _find(self, starts: tuple[int, ...]) -> tuple[Conflict, ...]:
        running = self._running(starts)
        cliques, slots = _maximal(running)
        if self.packer.packs(cliques):
            return ()
        # A set of tasks that cannot run together conflicts in every slot where it does: the search picks the slot.
        together = sorted({small for clique in cliques for small in self._minimal_sets(clique)})
        if together:
            return tuple(
                tuple((j, self._covering[j][slot]) for j in _members(small))
                for small in together
                for slot, tasks in enumerate(running)
                if tasks & small == small
            )
        return (self._over_time(cliques, slots),)

    def _minimal_sets(self, clique: int) -> tuple[int, ...]:
        """Up to two minimal subsets of a clique that do not fit in one slot, dropping small or large tasks first."""
        known = self._smallest.get(clique)
        if known is None:
            sets = set()
            if not self.packer.packs((clique,)):
                for order in (self._by_size, self._by_size[::-1]):
                    sets.add(self.packer.minimal((clique,), order)[0])
            known = self._smallest[clique] = tuple(sorted(sets))
        return known

    def _over_time(self, cliques: Cliques, slots: list[int]) -> Conflict:
        """A conflict over several slots: every slot fits by itself, but no task may change its machine."""
        keep = list(range(len(cliques)))
        for k in range(len(cliques)):
            fewer = [i for i in keep if i != k]
            if not self.packer.packs(tuple(cliques[i] for i in fewer)):
                keep = fewer
        small = self.packer.minimal(tuple(cliques[i] for i in keep), self._by_size)
        masks: dict[int, int] = {}
        for clique, i in zip(small, keep, strict=True):
            for j in _members(clique):
                masks[j] = masks.get(j, -1) & self._covering[j][slots[i]]
        return tuple(sorted(masks.items()))


def _maximal(running: list[int]) -> tuple[Cliques, list[int]]:
    """Maximal sets of tasks that run together, and a slot of each.

    Tasks run without a break, so a set that is contained in another slot's set is contained in that of a neighbor.
    """
    changes = [slot for slot, tasks in enumerate(running) if slot == 0 or tasks != running[slot - 1]]
    sets = [0, *(running[slot] for slot in changes), 0]
    best = {
        tasks: slot
        for slot, before, tasks, after in zip(changes, sets, sets[1:], sets[2:], strict=False)
        if tasks & before != tasks and tasks & after != tasks
    }
    cliques = tuple(sorted(best))
    return cliques, [best[clique] for clique in cliques]


def _covering(task: Task, slot: int) -> int:
    """Bit mask of the starts for which a task runs in a slot."""
    first, last = max(task.earliest, slot - task.duration + 1), min(task.starts[-1], slot)
    return ((1 << max(0, last - first + 1)) - 1) << first


def _members(tasks: int) -> list[int]:
    return [j for j in range(tasks.bit_length()) if tasks >> j & 1]
