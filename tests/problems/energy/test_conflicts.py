from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.problems.energy import Instance, Machine, Task, conflicts
from regretless.problems.energy.conflicts import Conflicts


def packs(instance: Instance, starts: tuple[int, ...]) -> bool:
    for machines in itertools.product(range(len(instance.machines)), repeat=len(starts)):
        for slot, (m, machine) in itertools.product(range(instance.slots), enumerate(instance.machines)):
            running = [
                task.usage
                for task, start, at in zip(instance.tasks, starts, machines, strict=True)
                if at == m and start <= slot < start + task.duration
            ]
            if any(sum(used) > have for used, have in zip(zip(*running, strict=True), machine.capacity, strict=False)):
                break
        else:
            return True
    return False


@given(data=st.data())
def test_conflicts_are_empty_exactly_where_the_starts_pack(
    data: st.DataObject, small_instances: st.SearchStrategy[Instance]
) -> None:
    instance = data.draw(small_instances)
    starts = tuple(data.draw(st.sampled_from(task.starts)) for task in instance.tasks)
    found = Conflicts(instance).find(starts)
    assert (not found) == packs(instance, starts)
    for conflict in found:
        # The starts themselves lie in the conflict, and nothing inside it packs.
        assert all(mask >> starts[j] & 1 for j, mask in conflict)
        inside = [
            [s for s in task.starts if dict(conflict).get(j, -1) >> s & 1] for j, task in enumerate(instance.tasks)
        ]
        assert not any(packs(instance, choice) for choice in itertools.product(*inside))


def test_machines_that_cannot_be_changed_make_a_conflict_over_time() -> None:
    # In slot 0 the tasks 2 and 3 leave no room for 0 and 1 on one machine; in slot 1 task 4 leaves them only one.
    machines = tuple(Machine(m, 0, 0, 0, (4.0,)) for m in range(2))
    sizes = [(2, 1.0), (2, 1.0), (1, 3.0), (1, 3.0), (1, 4.0), (1, 0.0)]
    tasks = tuple(Task(j, duration, 0, 24, 1.0, (usage,)) for j, (duration, usage) in enumerate(sizes))
    conflicts = Conflicts(Instance(60, machines, tasks))
    (conflict,) = conflicts.find((0, 0, 0, 0, 1, 0))
    assert conflict == ((0, 0b1), (1, 0b1), (2, 0b1), (3, 0b1), (4, 0b10))
    assert conflicts.find((0, 0, 0, 0, 2, 0)) == ()


def test_answers_do_not_depend_on_what_is_remembered(monkeypatch: pytest.MonkeyPatch, crowded: Instance) -> None:
    starts = [tuple(min(s, task.starts[-1]) for task in crowded.tasks) for s in range(2, 8)]
    fresh = [Conflicts(crowded).find(choice) for choice in starts]
    assert any(fresh)
    one = Conflicts(crowded)
    assert [one.find(choice) for choice in starts[::-1]][::-1] == fresh
    monkeypatch.setattr(conflicts, "REMEMBERED", 1)
    assert [one.find(choice) for choice in starts] == fresh
