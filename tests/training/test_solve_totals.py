from __future__ import annotations

import pytest

from regretless.losses import Blackbox
from regretless.solvers.ledger import counted_as
from regretless.training import fit
from regretless.training.history import COLUMNS
from regretless.training.solve_totals import COUNTED, totals, watched

from .runs import LOSSES, cache, data, model, problem

TRAIN = data()


def test_totals_are_those_of_the_problem_and_of_the_cache_around_it():
    memory = cache(TRAIN, p_solve=1.0)
    memory(memory.problem.to_minimization(TRAIN.costs[:4]))
    found = totals(memory)
    assert tuple(found) == COUNTED
    assert (found["solves"], found["lookups"]) == (4, 0 if memory.grow_at == "transformed" else 4)
    assert totals(memory.problem) == found | {"lookups": 0}
    assert set(totals(None).values()) == {0}


def test_only_the_solves_for_regrets_of_epochs_are_watched():
    one = problem()
    assert watched(one) == watched(None) == (0, 0.0)
    one.solve(TRAIN.costs[:2])
    with counted_as("watching"):
        one.solve(TRAIN.costs[:3])
    assert watched(one)[0] == 3
    assert watched(one)[1] > 0


def test_the_history_has_its_columns_and_exact_counts():
    n = len(TRAIN)
    for name, solves, lookups in (("two-stage", 0, 0), ("spo", n, 0)):
        history = fit(model(), LOSSES[name](TRAIN), TRAIN, epochs=3, batch_size=4).history
        assert set(COLUMNS) - {"regret"} <= set(history[0])
        assert history.column("epoch") == [1, 2, 3]
        assert history.column("solves") == [solves] * 3
        assert history.column("lookups") == [lookups] * 3
        assert history.column("cache_size") == [None] * 3
        assert history.column("not_optimal") == [0] * 3
        assert all(row["seconds"] >= row["solver_seconds"] >= 0 for row in history)
    history = fit(model(), Blackbox(problem()), TRAIN, epochs=2, batch_size=4).history
    assert history.column("solves") == [2 * n] * 2


@pytest.mark.parametrize(("grow_at", "queries"), [("predicted", 1), ("transformed", 2)])
def test_the_history_counts_what_the_cache_did(grow_at, queries):
    memory = cache(TRAIN, grow_at=grow_at)
    history = fit(model(), Blackbox(memory), TRAIN, epochs=3, batch_size=4).history
    did = memory.statistics
    assert history.total("solves") == did.solves == memory.problem.statistics.solves
    assert history.total("lookups") == did.lookups
    assert did.lookups == 2 * 3 * len(TRAIN) - (did.solves if grow_at == "transformed" else 0)
    assert did.solves % queries == 0
    assert history.column("cache_size")[-1] == len(memory)
    assert sorted(history.column("cache_size")) == history.column("cache_size")
