from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.errors import InputError
from regretless.problems.energy import Assignment, EnergyOracle, Instance, formulate, schedule


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


def test_what_is_no_schedule_is_refused(crowded: Instance) -> None:
    n = formulate(crowded).n
    with pytest.raises(InputError, match=rf"shape \({n},\), got \(3,\)"):
        schedule(crowded, np.zeros(3))
    with pytest.raises(InputError, match="start task 0 exactly once, got 0"):
        schedule(crowded, np.zeros(n))
    with pytest.raises(InputError, match="exactly once"):
        schedule(crowded, np.ones(n))
