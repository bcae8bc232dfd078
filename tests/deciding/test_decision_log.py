from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.deciding.decision_log import DecisionLog
from regretless.deciding.decision_record import Record
from regretless.errors import FileError


def record(instance: str = "monday", **changed: object) -> Record:
    base = Record(
        "run", instance, np.array([0.5, -1.0]), np.array([1.0, 2.0]), np.array([1.0, 0.0, 3.5]), 4.25, "optimal",
        "solved", {"row:capacity": 7.0}, 0.0, np.array([1.5, 2.5]),
    )  # fmt: skip
    return replace(base, **changed)  # type: ignore[arg-type]


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    with DecisionLog(tmp_path / "d.db") as log:
        assert log.append([record(), record("tuesday", gap=None, two_stage=None, objective=np.nan)]) == 2
    with DecisionLog(tmp_path / "d.db", create=False) as log:
        first, second = log.records()
    assert (first.instance, first.objective, first.status, first.found, first.gap) == (
        "monday", 4.25, "optimal", "solved", 0.0,
    )  # fmt: skip
    assert first.decision.tolist() == [1.0, 0.0, 3.5]
    assert first.two_stage is not None
    assert first.two_stage.tolist() == [1.5, 2.5]
    assert first.constraints == {"row:capacity": 7.0}
    assert first.at.endswith("+00:00")
    assert np.isnan(second.objective)
    assert (second.gap, second.two_stage) == (None, None)
    with pytest.raises(FileError, match="closed"):
        len(log)


def test_the_same_decision_is_logged_once_and_found_again(tmp_path: Path) -> None:
    with DecisionLog(tmp_path / "d.db") as log:
        assert log.append([record()]) == 1
        assert log.append([record(objective=9.0), record("tuesday")]) == 1
        assert log.append([record(features=np.array([0.5, -2.0]))]) == 1
        assert log.append([record(constraints={})]) == 1
        assert log.append([record(constraints={"row:capacity": 8.0})]) == 1
        assert len(log) == 5
        assert log.find([record().key, "other"])[record().key].objective == 4.25


def test_a_day_is_the_same_instance_in_every_form(tmp_path: Path) -> None:
    with DecisionLog(tmp_path / "log.db") as log:
        assert log.append([record("2024-01-31"), record("31.01.2024")]) == 1
        assert log.append([record("2024-01-31T00:00:00"), record("31.1.2024")]) == 0
        assert [one.instance for one in log.records()] == ["2024-01-31"]
        other = record("31.01.2024", features=np.array([7.0, 8.0]))
        assert log.append([other, record("2024-02-01")]) == 2
        assert log.append([record("2024-01-31")]) == 1, "the other one replaced it"
        assert log.append([record("31.01.2024")]) == 0
        assert log.append([other, record("2024-01-31"), record("2024-02-01")]) == 2


def test_nothing_in_a_log_can_be_changed_or_deleted(tmp_path: Path) -> None:
    with DecisionLog(tmp_path / "d.db") as log:
        log.append([record()])
    db = sqlite3.connect(tmp_path / "d.db")
    for statement in ("DELETE FROM decisions", "UPDATE decisions SET objective = 0"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            db.execute(statement)


def test_several_writers_lose_nothing_and_write_nothing_twice(tmp_path: Path) -> None:
    def write(part: int) -> None:
        with DecisionLog(tmp_path / "d.db") as log:
            for k in range(15):
                log.append([record(f"{part}-{k}"), record(f"shared-{k}")])

    threads = [threading.Thread(target=write, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with DecisionLog(tmp_path / "d.db") as log:
        names = [one.instance for one in log.records()]
    assert len(names) == len(set(names)) == 60


def test_a_new_log_waits_for_a_process_that_makes_it_at_the_same_moment(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "d.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        opened = pool.submit(DecisionLog, tmp_path / "d.db")
        with pytest.raises(TimeoutError):
            opened.result(timeout=0.2)
        other.execute("ROLLBACK")
        with opened.result(timeout=30) as log:
            assert log.append([record()]) == 1


def test_files_of_a_run_are_kept_once(tmp_path: Path) -> None:
    with DecisionLog(tmp_path / "d.db") as log:
        run = log.add_run({"a": b"1", "b": b"2"})
        assert log.add_run({"b": b"2", "a": b"1"}) == run
        assert log.add_run({"a": b"12", "b": b""}) != run
        assert log.files_of(run) == {"a": b"1", "b": b"2"}


def test_keys_are_those_of_earlier_logs_and_readers_do_not_block_a_writer(tmp_path: Path) -> None:
    assert record().key == "3a16c86e4108651ad6af2d2eedfd30bc"
    with DecisionLog(tmp_path / "d.db") as log:
        assert log._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_is_no_log_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no log of decisions .*none\.db"):
        DecisionLog(tmp_path / "none.db", create=False)
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("instance,objective\n" * 100)
    with pytest.raises(FileError, match=r"text\.db as a log of decisions: file is not a database$"):
        DecisionLog(tmp_path / "text.db")
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (x)")
    with pytest.raises(FileError, match=r"^\S*other\.db is not a log of decisions"):
        DecisionLog(tmp_path / "other.db")
    with DecisionLog(tmp_path / "new.db") as log:
        assert log._db.execute("PRAGMA application_id").fetchone() == (0x7267726C,), "as in all versions"
        log._db.execute("PRAGMA user_version = 99")
    with pytest.raises(FileError, match="upgrade"):
        DecisionLog(tmp_path / "new.db")
    with pytest.raises(FileError, match="cannot use"):
        DecisionLog(tmp_path / "text.db" / "d.db")


def test_a_decision_that_another_replaced_is_logged_again_and_is_the_latest(tmp_path: Path) -> None:
    first, second = record(at="2024-01-01T00:00:00+00:00"), record(features=np.array([0.5, -2.0]))
    with DecisionLog(tmp_path / "d.db") as log:
        for one, new in ((first, 1), (record("tuesday"), 1), (first, 0), (second, 1), (first, 1), (first, 0)):
            assert log.append([one]) == new
        for one in (second, first):
            assert log.append([one]) == 1
        keys = [one.key for one in log.records() if one.instance == "monday"]
        assert keys == [first.key, second.key, first.key, second.key, first.key]
        assert log.find([first.key])[first.key].at > first.at


def test_a_log_that_cannot_be_written_says_what_must_be_writable(tmp_path: Path) -> None:
    with DecisionLog(tmp_path / "d.db") as log:
        log._db.execute("PRAGMA query_only = 1")
        with pytest.raises(FileError, match=r"d\.db as a log of decisions: .*readonly.*; are the file and its folder"):
            log.append([record()])


def test_a_file_that_is_refused_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "d.db").write_bytes(b"no database, but long enough to be read as one" * 4)
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def kept(*words: Any, **settings: Any) -> sqlite3.Connection:
        opened.append(connect(*words, **settings))
        return opened[-1]

    monkeypatch.setattr("sqlite3.connect", kept)
    with pytest.raises(FileError):
        DecisionLog(tmp_path / "d.db")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


@pytest.mark.parametrize(
    "damage", ["features = x'00'", "decision = 'text'", "constraints = '['", "constraints = '[]'", "gap = 'wide'"]
)
def test_a_damaged_decision_names_the_log_and_the_instance(damage: str, tmp_path: Path) -> None:
    with DecisionLog(tmp_path / "d.db") as log:
        log.append([record()])
    db = sqlite3.connect(tmp_path / "d.db")
    db.execute("DROP TRIGGER decisions_do_not_change")
    db.execute(f"UPDATE decisions SET {damage}")
    db.commit()
    db.close()
    with DecisionLog(tmp_path / "d.db") as log:
        for read in (log.records, lambda: log.find([record().key])):
            with pytest.raises(FileError, match=r"d\.db is damaged: the decision for 'monday' cannot be read"):
                read()


def test_a_feasible_decision_takes_the_place_of_an_infeasible_one_and_not_the_other_way(tmp_path: Path) -> None:
    with DecisionLog(tmp_path / "d.db") as log:
        steps = [("infeasible", 1), ("infeasible", 0), ("cached", 1), ("solved", 0), ("infeasible", 0)]
        assert [log.append([record(found=found)]) for found, _ in steps] == [new for _, new in steps]
        assert log.find([record().key])[record().key].found == "cached"
