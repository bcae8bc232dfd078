from __future__ import annotations

import csv
import io

from regretless.training.history import COLUMNS, History

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
