from __future__ import annotations

import csv
import io

import pytest

from regretless.losses import Blackbox
from regretless.solvers.ledger import counted_as
from regretless.training import fit
from regretless.training.history import COLUMNS, COUNTED, History, totals, watched

from .runs import LOSSES, cache, data, model, problem

ROWS = [{"epoch": 1, "loss": 0.5, "solves": 3}, {"epoch": 2, "loss": 0.25, "solves": None, "test_regret": 7.0}]


def test_a_column_has_a_place_for_every_epoch():
    history = History(ROWS)
    assert history.column("test_regret") == [None, 7.0]
    assert history.column("nothing") == [None, None]
    assert (len(history), history[1]["loss"], [row["epoch"] for row in history]) == (2, 0.25, [1, 2])


def test_it_prints_the_number_of_epochs_and_the_last_row():
    assert repr(History(ROWS)) == "History(2 epochs, the last with loss=0.25, test_regret=7)"
    assert str(History(ROWS[:1])) == "History(1 epoch, the last with loss=0.5, solves=3)"
    assert repr(History()) == "History(no epochs)"


def test_totals_leave_out_what_is_missing():
    history = History(ROWS)
    assert history.total("solves") == 3
    assert history.total("loss") == 0.75
    assert history.total("nothing") == 0


def test_fixed_columns_come_first_and_others_follow():
    assert History(ROWS).columns == [*COLUMNS, "test_regret"]


def test_csv_reads_back():
    rows = list(csv.DictReader(io.StringIO(History(ROWS).to_csv())))
    assert [row["loss"] for row in rows] == ["0.5", "0.25"]
    assert [row["test_regret"] for row in rows] == ["", "7.0"]
    assert History().to_csv() == ",".join(COLUMNS) + "\n"


def test_a_history_does_not_share_the_list_it_was_given():
    rows = list(ROWS)
    history = History(rows)
    history.append({"epoch": 3})
    assert len(rows) == 2


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
