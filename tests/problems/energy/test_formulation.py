from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.problems.energy import Assignment, EnergyOracle, Instance, Machine, Task, formulate, schedule
from regretless.problems.energy.formulation import columns

TWO = Instance(
    360,
    (Machine(10, 0, 0, 0, (5.0, 1.0)), Machine(11, 0, 0, 0, (4.0, 2.0))),
    (Task(3, 2, 0, 4, 2.0, (3.0, 1.0)), Task(4, 1, 1, 3, 5.0, (2.0, 0.5))),
)


def test_variables_are_the_starts_inside_the_windows() -> None:
    model = formulate(TWO)
    assert model.names == (
        "3_10_0", "3_10_1", "3_10_2", "3_11_0", "3_11_1", "3_11_2", "4_10_1", "4_10_2", "4_11_1", "4_11_2",
    )  # fmt: skip
    assert columns(TWO).tolist() == [0, 6, 10]
    assert model.integer.all()


def test_cost_map_is_power_times_hours_in_the_slots_covered() -> None:
    energy = formulate(TWO).cost_map.toarray()
    assert energy.shape == (4, 10)
    assert energy[:, 1].tolist() == [0, 12, 12, 0]
    assert energy[:, 9].tolist() == [0, 0, 30, 0]


def test_there_is_one_row_per_task_and_one_per_machine_resource_and_slot() -> None:
    model = formulate(TWO)
    assert model.A.shape == (2 + 2 * 2 * 4, 10)
    assert model.A.toarray()[:2].tolist() == [[1] * 6 + [0] * 4, [0] * 6 + [1] * 4]
    # machine 11, its second resource, slot 2: the capacity 2 is shared by what runs there then
    row = 2 + (1 * 2 + 1) * 4 + 2
    assert model.row_upper[row] == 2.0
    assert model.A.toarray()[row].tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 0, 0.5]


def test_a_model_that_is_too_large_for_the_memory_is_refused() -> None:
    machines = tuple(Machine(m, 0, 0, 0, (1.0,)) for m in range(100))
    tasks = tuple(Task(j, 500, 0, 1440, 1.0, (1.0,)) for j in range(10))
    with pytest.raises(InputError, match="at most 50000000 coefficients, got 470500000"):
        formulate(Instance(1, machines, tasks))


@given(data=st.data())
def test_check_accepts_exactly_what_the_machines_can_hold(
    data: st.DataObject, small_instances: st.SearchStrategy[Instance]
) -> None:
    instance = data.draw(small_instances)
    model, first = formulate(instance), columns(instance)
    x, load = np.zeros(model.n), np.zeros((len(instance.machines), instance.slots, instance.resources))
    bought = np.zeros(instance.slots)
    for j, task in enumerate(instance.tasks):
        machine = data.draw(st.integers(0, len(instance.machines) - 1))
        start = data.draw(st.sampled_from(task.starts))
        x[first[j] + machine * len(task.starts) + start - task.earliest] = 1.0
        load[machine, start : start + task.duration] += task.usage
        bought[start : start + task.duration] += task.power * instance.slot_hours
    fits = all((load[m] <= machine.capacity).all() for m, machine in enumerate(instance.machines))
    assert bool(model.check(x)[0]) == fits
    np.testing.assert_allclose(model.solution(x)[0], bought)


def test_a_schedule_names_task_machine_and_start_as_the_variables_do(crowded: Instance) -> None:
    decision = EnergyOracle(crowded).solve(torch.arange(12.0)[None], decision=True).decision
    assert decision is not None
    model = formulate(crowded)
    assert model.names is not None
    chosen = [model.names[i] for i in np.flatnonzero(decision[0])]
    assignments = schedule(crowded, decision[0])
    assert chosen == [f"{a.task}_{a.machine}_{a.start}" for a in assignments]
    assert schedule(crowded, decision[0].numpy()) == assignments
    assert isinstance(assignments[0], Assignment)


def test_a_decision_that_is_not_a_schedule_is_refused(crowded: Instance) -> None:
    n = formulate(crowded).n
    with pytest.raises(InputError, match=rf"shape \({n},\), got \(3,\)"):
        schedule(crowded, np.zeros(3))
    with pytest.raises(InputError, match="start task 0 exactly once, got 0"):
        schedule(crowded, np.zeros(n))
    with pytest.raises(InputError, match="exactly once"):
        schedule(crowded, np.ones(n))
