"""A scheduling instance: machines with capacities, tasks with time windows, and a day of equal slots."""

from __future__ import annotations

import math
from dataclasses import dataclass

from regretless.errors import InputError

MINUTES_PER_DAY = 24 * 60


@dataclass(frozen=True)
class Machine:
    """A machine and its capacity of each resource; its costs to idle, start and stop are not part of the model."""

    id: int
    idle: float
    up: float
    down: float
    capacity: tuple[float, ...]


@dataclass(frozen=True)
class Task:
    """A task that runs ``duration`` slots without a break, starts in slot ``earliest`` or later, ends by ``latest``."""

    id: int
    duration: int
    earliest: int
    latest: int
    power: float
    usage: tuple[float, ...]

    @property
    def starts(self) -> range:
        """The slots in which it may start."""
        return range(self.earliest, self.latest - self.duration + 1)

    def fault(self, slots: int, machines: tuple[Machine, ...]) -> str:
        """Return what is wrong with the task, or why it can run at no time or on no machine; empty if it can run."""
        if self.duration < 1:
            return f"a duration of at least 1 slot, got {self.duration}"
        if self.earliest < 0 or self.latest > slots:
            return f"a time window inside 0 .. {slots}, got {self.earliest} .. {self.latest}"
        if not self.starts:
            return f"a time window of at least {self.duration} slots, got {self.earliest} .. {self.latest}"
        if not 0.0 <= self.power < math.inf:  # the cheapest start of a task is that of the lowest prices
            return f"a power that is finite and at least 0, got {self.power}"
        if not all(0.0 <= need < math.inf for need in self.usage):
            return f"resource usages that are finite and at least 0, got {list(self.usage)}"
        if not any(fits(self.usage, machine.capacity) for machine in machines):
            return f"resource usages that fit at least one machine, got {list(self.usage)}"
        return ""


@dataclass(frozen=True)
class Instance:
    """Machines, tasks and the length of a slot.

    Args:
        minutes_per_slot: a divisor of the minutes per day; it determines the number of slots T.
        machines: at least one.
        tasks: at least one; each fits its time window and at least one machine.
        name: used in titles.

    Raises:
        InputError: an invalid part, or a task that can never run.
    """

    minutes_per_slot: int
    machines: tuple[Machine, ...]
    tasks: tuple[Task, ...]
    name: str = ""

    def __post_init__(self) -> None:
        if self.minutes_per_slot < 1 or MINUTES_PER_DAY % self.minutes_per_slot:
            raise InputError(
                f"minutes_per_slot must be an integer that divides {MINUTES_PER_DAY}, got {self.minutes_per_slot}"
            )
        if not self.machines or not self.tasks:
            raise InputError(
                f"an instance needs machines and tasks, got {len(self.machines)} machines and {len(self.tasks)} tasks"
            )
        for kind, ids in (("machine", [m.id for m in self.machines]), ("task", [t.id for t in self.tasks])):
            if len(set(ids)) < len(ids):
                raise InputError(f"every {kind} needs its own id, got {ids}")
        widths = {len(m.capacity) for m in self.machines} | {len(t.usage) for t in self.tasks}
        if len(widths) != 1 or min(widths) < 1:
            raise InputError(f"machines and tasks must have the same resources, at least one, got {sorted(widths)}")
        for task in self.tasks:
            if fault := task.fault(self.slots, self.machines):
                raise InputError(f"task {task.id} cannot be scheduled: expected {fault}")

    @property
    def slots(self) -> int:
        """Number T of slots per day."""
        return MINUTES_PER_DAY // self.minutes_per_slot

    @property
    def slot_hours(self) -> float:
        """Length of a slot in hours: energy is power times this."""
        return self.minutes_per_slot / 60

    @property
    def resources(self) -> int:
        """Number R of resources."""
        return len(self.machines[0].capacity)


def fits(usage: tuple[float, ...], capacity: tuple[float, ...]) -> bool:
    """Whether usages stay within capacities."""
    return all(need <= limit(have) for need, have in zip(usage, capacity, strict=True))


def limit(capacity: float) -> float:
    """Largest allowed sum of usages: the capacity, and a tolerance for rounding."""
    return capacity + 1e-9 * max(1.0, capacity)
