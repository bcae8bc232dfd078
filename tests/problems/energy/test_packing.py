from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.problems.energy import Instance, Machine, Task, packing
from regretless.problems.energy.packing import Packer, TooHardError


def make(capacities: list[float], usages: list[float]) -> Instance:
    machines = tuple(Machine(m, 0, 0, 0, (c,)) for m, c in enumerate(capacities))
    return Instance(60, machines, tuple(Task(j, 1, 0, 24, 1.0, (u,)) for j, u in enumerate(usages)))


def test_bins_may_be_too_small_where_their_sum_is_not() -> None:
    packer = Packer(make([5, 5], [3, 3, 3]))
    assert packer.packs((0b011,))
    assert not packer.packs((0b111,))


def test_a_task_keeps_its_machine_through_all_cliques() -> None:
    # Each pair fits on two machines of 4; together they cannot, for 0 and 1, 1 and 2, 0 and 2 must all be apart.
    packer = Packer(make([4, 4], [3, 3, 3]))
    assert all(packer.packs((pair,)) for pair in (0b011, 0b101, 0b110))
    assert not packer.packs((0b011, 0b101, 0b110))


def test_minimal_leaves_only_tasks_that_matter() -> None:
    packer = Packer(make([5, 5], [1, 3, 3, 3, 0]))
    assert packer.minimal((0b11111,), range(5)) == (0b01110,)


@given(
    capacities=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    usages=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    cliques=st.lists(st.integers(1, 31), min_size=1, max_size=3),
)
def test_packing_equals_trying_every_assignment(capacities: list[int], usages: list[int], cliques: list[int]) -> None:
    usages = [min(u, max(capacities)) for u in usages]
    masks = tuple(clique & (2 ** len(usages) - 1) for clique in cliques)
    answer = Packer(make([float(c) for c in capacities], [float(u) for u in usages])).machines(masks)

    def good(machines: tuple[int, ...]) -> bool:
        loads = np.zeros((len(masks), len(capacities)))
        for k, mask in enumerate(masks):
            for j, machine in enumerate(machines):
                loads[k, machine] += usages[j] * (mask >> j & 1)
        return bool((loads <= capacities).all())

    possible = any(map(good, itertools.product(range(len(capacities)), repeat=len(usages))))
    assert (answer is not None) == possible
    if answer is not None:
        assert good(tuple(answer.get(j, 0) for j in range(len(usages))))


def test_a_question_beyond_the_budget_is_given_up_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "TRIALS", 3)
    packer = Packer(make([5, 5], [3, 3, 3, 1]))
    for _ in range(2):
        with pytest.raises(TooHardError):
            packer.machines((0b1111,))
