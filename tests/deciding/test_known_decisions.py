from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from regretless.deciding.known_decisions import KnownDecisions
from regretless.deciding.violations import total_violation

from .models import all_points, random_model


def test_the_best_and_the_next_best_feasible_decisions_are_chosen() -> None:
    for seed in range(40):
        base, chance = random_model(seed), np.random.default_rng(seed + 1)
        x = all_points(base)
        x = x[chance.permutation(len(x))[:12]]
        known = KnownDecisions(base)
        assert known.add(x) == 12
        assert known.add(x) == 0
        other = random_model(seed + 1000)
        members = [base, replace(base, row_upper=base.row_upper + 1), replace(base, upper=0.0), other]
        for milp in members:
            objective = chance.normal(size=milp.n)
            feasible, found = x[milp.check(x)], known.choose(milp, objective)
            if not len(feasible):
                assert found.best is None
                assert found.nearest is not None
                size = total_violation(milp, x, (milp.A @ x.T).T)
                mine = total_violation(milp, found.nearest[None], (milp.A @ found.nearest)[None])
                assert mine[0] == pytest.approx(size.min())
                continue
            values = np.sort(feasible @ objective)
            assert found.best is not None
            assert objective @ found.best == pytest.approx(values[0])
            assert (found.second is None) == (len(values) == 1)
            if found.second is not None:
                assert objective @ found.second == pytest.approx(values[1])


def test_a_full_store_keeps_the_row_values_of_its_decisions() -> None:
    milp = random_model(3)
    known, x = KnownDecisions(milp, capacity=4), all_points(milp)
    for row in x:
        known.add(row)
    assert len(known) == 4
    objective = np.arange(milp.n) - 2.0
    last = x[-4:]
    feasible = last[milp.check(last)]
    best = known.choose(milp, objective).best
    assert (best is None) == (not len(feasible))
    if best is not None:
        assert objective @ best == pytest.approx((feasible @ objective).min())


def test_nothing_known_is_no_choice() -> None:
    milp = random_model(0)
    found = KnownDecisions(milp).choose(milp, np.ones(milp.n))
    assert found.best is found.second is found.nearest is None
