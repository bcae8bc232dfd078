from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from regretless.errors import InputError
from regretless.problems.energy import Instance, Machine, Task
from regretless.problems.energy.instance import fits

MACHINE = Machine(0, 190.0, 0.1, 0.0, (10.0,))
TASK = Task(0, 3, 2, 8, 5.0, (4.0,))


def test_slots_follow_from_their_length() -> None:
    assert Instance(30, (MACHINE,), (TASK,)).slots == 48
    assert Instance(30, (MACHINE,), (TASK,)).slot_hours == 0.5
    assert Instance(60, (MACHINE,), (TASK,)).slots == 24


def test_starts_are_those_that_end_in_time() -> None:
    assert list(TASK.starts) == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"duration": 0}, "duration of at least 1"),
        ({"earliest": -1}, "inside 0 .. 48, got -1"),
        ({"latest": 49}, "inside 0 .. 48, got 2 .. 49"),
        ({"duration": 7}, "at least 7 slots, got 2 .. 8"),
        ({"usage": (10.5,)}, "fit at least one machine"),
        ({"usage": (-1.0,)}, "usages that are finite and at least 0"),
        ({"power": -5.0}, "a power that is finite and at least 0, got -5.0"),
        ({"power": float("nan")}, "a power that is finite and at least 0, got nan"),
    ],
)
def test_a_wrong_task_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Instance(30, (MACHINE,), (replace(TASK, **change),))


@pytest.mark.parametrize(
    ("minutes", "machines", "tasks", "message"),
    [
        (7, (MACHINE,), (TASK,), "divides 1440, got 7"),
        (0, (MACHINE,), (TASK,), "divides 1440, got 0"),
        (30, (), (TASK,), "0 machines"),
        (30, (MACHINE,), (), "0 tasks"),
        (30, (MACHINE, MACHINE), (TASK,), "every machine needs its own id"),
        (30, (MACHINE,), (TASK, TASK), "every task needs its own id"),
        (30, (MACHINE,), (replace(TASK, usage=(1.0, 1.0)),), "same resources"),
    ],
)
def test_an_instance_that_cannot_be_used_is_refused(
    minutes: int, machines: tuple[Machine, ...], tasks: tuple[Task, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Instance(minutes, machines, tasks)


def test_fractions_that_fill_a_machine_fit_in_spite_of_rounding() -> None:
    assert fits((0.1 + 0.2,), (0.3,))
    assert not fits((0.3001,), (0.3,))
