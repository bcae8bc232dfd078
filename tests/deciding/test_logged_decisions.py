from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from regretless.deciding import Decider, LoggedDecider, audit_decisions, logged_decisions
from regretless.deciding.decision import Decision
from regretless.deciding.decision_log import DecisionLog
from regretless.deciding.decision_record import Record
from regretless.deciding.logged_decisions import (
    HASH,
    LOG_BATCH,
    LogRequest,
    decide_and_log,
    log_files,
    settled,
)
from regretless.errors import FileError, InputError
from regretless.runs import held_out
from regretless.runs.run_folder import read_two_stage
from regretless.tables import saved_problem

from .conftest import TrainedRun


@pytest.fixture(scope="module")
def decider(trained: TrainedRun) -> Decider:
    return Decider.load(trained.run)


def requests(trained: TrainedRun, count: int = 20) -> list[LogRequest]:
    return [
        LogRequest(day, row, {"row:weight": 4.0 + k % 3})
        for k, (day, row) in enumerate(zip(trained.days[:count], trained.features, strict=False))
    ]


def test_every_decision_is_logged_with_what_two_stage_predicts(
    decider: Decider, trained: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    baseline, told, commits = read_two_stage(decider.run.blank, trained.run), list[tuple[int, int]](), list[int]()
    with DecisionLog(tmp_path / "d.db") as log:
        append = log.append
        monkeypatch.setattr(log, "append", lambda records: (commits.append(len(records)), append(records))[1])
        run = log.add_run(log_files(decider, trained.run))
        made = decide_and_log(
            decider, log, run, requests(trained), baseline=baseline, workers=2, report=lambda *n: told.append(n)
        )
        logged = log.records()
    assert told == [(LOG_BATCH, LOG_BATCH), (20, 20)]
    assert commits == [LOG_BATCH, 20 - LOG_BATCH]
    assert [one.instance for one in made] == [one.instance for one in logged] == list(trained.days)
    for k, record in enumerate(logged):
        answer = decider.decide(trained.features[k], {"row:weight": 4.0 + k % 3}, deadline=None)
        assert record.objective == pytest.approx(answer.objective)
        assert record.predicted.tolist() == list(answer.predicted.values())
        assert record.two_stage is not None
        assert not np.allclose(record.two_stage, record.predicted)


def test_what_is_in_the_log_is_not_decided_again(
    decider: Decider, trained: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DecisionLog(tmp_path / "d.db") as log:
        first = decide_and_log(decider, log, "run", requests(trained, 5), baseline=None)
        monkeypatch.setattr(decider, "decide", lambda *_, **__: pytest.fail("decided again"))
        told = list[tuple[int, int]]()
        again = decide_and_log(
            decider, log, "run", requests(trained, 5), baseline=None, report=lambda *n: told.append(n)
        )
        assert len(log) == 5
    assert told == [(5, 0)]
    assert [one.objective for one in again] == [one.objective for one in first]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_was_decided_before_an_error_is_logged(
    error: type[BaseException], trained: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decider = Decider.load(trained.run)  # a decision that has begun may end after the test
    decide, names = decider.decide, iter("abc")

    def third(*given: Any, **how: Any) -> Decision:
        if next(names) == "c":
            raise error
        return decide(*given, **how)

    monkeypatch.setattr(decider, "decide", third)
    with DecisionLog(tmp_path / "d.db") as log, pytest.raises(error):
        decide_and_log(decider, log, "run", requests(trained, 5), baseline=None)
    with DecisionLog(tmp_path / "d.db") as log:
        assert [one.instance for one in log.records()] == list(trained.days[:2])


def test_an_interruption_does_not_wait_for_decisions_that_have_begun(
    trained: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decider = Decider.load(trained.run)
    monkeypatch.setattr(logged_decisions, "INTERVAL", 0.0)
    decide, begun, end, ended = decider.decide, list[Any](), threading.Event(), list[bool]()

    def slow(*given: Any, **how: Any) -> Decision:
        begun.append(given)
        if len(begun) > 1:
            ended.append(end.wait(20.0))
        return decide(*given, **how)

    def interrupted(done: int, new: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(decider, "decide", slow)
    try:
        with DecisionLog(tmp_path / "d.db") as log:
            with pytest.raises(KeyboardInterrupt):
                decide_and_log(decider, log, "run", requests(trained, 5), baseline=None, report=interrupted)
            assert ended == [], "a decision is still being made"
            assert [one.instance for one in log.records()] == [trained.days[0]]
    finally:
        end.set()
    assert len(begun) <= 2


def test_slow_decisions_are_committed_one_by_one(
    decider: Decider, trained: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logged_decisions, "INTERVAL", 0.0)
    told = list[tuple[int, int]]()
    with DecisionLog(tmp_path / "d.db") as log:
        decide_and_log(decider, log, "run", requests(trained, 3), baseline=None, report=lambda *n: told.append(n))
    assert told == [(1, 1), (2, 2), (3, 3), (3, 3)]


def test_two_equal_requests_are_one_row(decider: Decider, trained: TrainedRun, tmp_path: Path) -> None:
    twice = [*requests(trained, 2), *requests(trained, 2)]
    with DecisionLog(tmp_path / "d.db") as log:
        assert len(decide_and_log(decider, log, "run", twice, baseline=None)) == 4
        assert len(log) == 2


def test_without_a_log_decisions_are_only_made(decider: Decider, trained: TrainedRun) -> None:
    assert len(decide_and_log(decider, None, "", requests(trained, 3), baseline=None)) == 3


def test_a_log_gets_all_files_that_an_audit_needs(decider: Decider, trained: TrainedRun, tmp_path: Path) -> None:
    problem = {saved_problem.FILE, saved_problem.ENCODING, HASH}
    assert set(log_files(decider, trained.run)) == {*problem, held_out.FILE}
    assert set(log_files(decider, tmp_path)) == problem
    assert read_two_stage(decider.run.blank, tmp_path) is None


def test_runs_that_differ_in_their_weights_only_are_two_runs_of_the_log(trained: TrainedRun, tmp_path: Path) -> None:
    one, other = Decider.load(trained.run), Decider.load(trained.run)
    with torch.no_grad():
        for weights in other.model.parameters():
            weights.mul_(-1.0)
    with DecisionLog(tmp_path / "d.db") as log:
        runs = [log.add_run(log_files(decider, trained.run)) for decider in (one, Decider.load(trained.run), other)]
        assert runs[0] == runs[1] != runs[2]
        first, second = (
            decide_and_log(decider, log, run, requests(trained, 5), baseline=None)
            for decider, run in ((one, runs[0]), (other, runs[2]))
        )
        assert len(log) == 10
    assert [record.predicted.tolist() for record in first] != [record.predicted.tolist() for record in second]


def test_going_back_to_an_earlier_forecast_makes_its_decision_the_latest_without_a_solve(
    decider: Decider, trained: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day = trained.days[0]
    old, new = (LogRequest(day, trained.features[k], {}) for k in (0, 1))
    with DecisionLog(tmp_path / "d.db") as log:
        for request in (old, new):
            decide_and_log(decider, log, "run", [request], baseline=None)
        monkeypatch.setattr(decider, "decide", lambda *_, **__: pytest.fail("decided again"))
        made = decide_and_log(decider, log, "run", [old], baseline=None)
        assert log.records()[-1].key == made[0].key == log.records()[0].key


def test_what_was_not_decided_in_time_is_decided_again(decider: Decider, trained: TrainedRun, tmp_path: Path) -> None:
    exact = {"row_lower:weight": 11.0, "row_upper:weight": 11.0, "row_lower:count": 4.0, "upper:rent": 0.0}
    rows, told = [LogRequest("x", trained.features[0], exact)], list[tuple[int, int]]()
    with DecisionLog(tmp_path / "d.db") as log:
        for deadline in (1e-9, 1e-9, None, None):
            (made,) = decide_and_log(
                decider, log, "run", rows, baseline=None, deadline=deadline, report=lambda *n: told.append(n)
            )
    assert made.found == "solved"
    assert told == [(1, 1), (1, 0), (1, 1), (1, 0)]


def test_a_model_that_is_infeasible_is_not_decided_again() -> None:
    late = Record("run", "x", np.zeros(3), np.zeros(5), np.zeros(6), 0.0, "time limit", "infeasible", {})
    records = {
        "late": late,
        "proved": replace(late, status="infeasible"),
        "cached": replace(late, found="cached"),
    }
    assert list(settled(records)) == ["proved", "cached"]


def test_a_decision_is_in_the_log_before_it_is_returned(trained: TrainedRun, tmp_path: Path) -> None:
    _, costs = trained.write_later(tmp_path)
    plain = Decider.load(trained.run)
    with LoggedDecider(trained.run, tmp_path / "d.db") as decider:
        for k, day in enumerate(trained.days):
            limits = {"row:weight": 4.0 + k % 3}
            answer = decider.decide(day, trained.features[k], limits, deadline=None)
            expected = plain.decide(trained.features[k], limits, deadline=None)
            assert answer.objective == pytest.approx(expected.objective)
            with DecisionLog(tmp_path / "d.db", create=False) as log:
                last = log.records()[-1]
            assert (last.instance, last.constraints, last.objective) == (day, limits, answer.objective)
            assert last.two_stage is not None
    found = audit_decisions(tmp_path / "d.db", costs, progress=False)
    assert len(found.known) == len(trained.days)
    assert found.verdict is not None


def test_a_second_request_returns_what_is_logged(
    trained: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    day, row = trained.days[0], trained.features[0]
    with LoggedDecider(trained.run, tmp_path / "d.db") as decider:
        first = decider.decide(day, row, deadline=None)
    with LoggedDecider(trained.run, tmp_path / "d.db") as decider:
        monkeypatch.setattr(decider.decider, "decide", lambda *_, **__: pytest.fail("decided again"))
        again = decider.decide(day, row, deadline=None)
        assert len(decider.log) == 1
    assert again.message.startswith("decided at ")
    volatile = {"message": "", "seconds": 0.0, "bound": None}
    assert replace(again, **volatile) == replace(first, **volatile)
    with pytest.raises(FileError, match="closed"):
        decider.decide(day, row, deadline=None)


@pytest.mark.parametrize("kind", [str, date.fromisoformat, datetime.fromisoformat, pd.Timestamp, np.datetime64])
def test_a_day_has_one_name_whatever_it_is_given_as(kind: Any, trained: TrainedRun, tmp_path: Path) -> None:
    day, row = trained.days[0], trained.features[0]
    with LoggedDecider(trained.run, tmp_path / "d.db") as decider:
        decider.decide(day, row, {"row:weight": 5.0}, deadline=None)
        decider.decide(kind(day), row, {"row:weight": np.int64(5)}, deadline=None)
        assert [record.instance for record in decider.log.records()] == [day]


def test_an_instance_without_a_name_and_a_constraint_that_is_no_number_are_refused(
    trained: TrainedRun, tmp_path: Path
) -> None:
    with LoggedDecider(trained.run, tmp_path / "d.db") as decider:
        for name in (None, "", float("nan"), pd.NaT):
            with pytest.raises(InputError, match="an instance needs a name, got an empty one"):
                decider.decide(name, trained.features[0])
        with pytest.raises(InputError, match="column 'row:weight': expected a finite number, got 'six'"):
            decider.decide("x", trained.features[0], {"row:weight": "six"})  # type: ignore[dict-item]
        assert len(decider.log) == 0


def test_an_infeasible_decision_of_the_log_names_what_it_violates(trained: TrainedRun, tmp_path: Path) -> None:
    impossible = {"row:weight": -100.0}
    with LoggedDecider(trained.run, tmp_path / "d.db") as decider:
        first, again = (decider.decide("x", trained.features[0], impossible, deadline=None) for _ in range(2))
    assert first.found == again.found == "infeasible"
    assert first.violated == again.violated != ()


def test_one_request_that_was_not_decided_in_time_is_decided_again(trained: TrainedRun, tmp_path: Path) -> None:
    exact = {"row_lower:weight": 11.0, "row_upper:weight": 11.0, "row_lower:count": 4, "upper:rent": 0}
    with LoggedDecider(trained.run, tmp_path / "d.db") as decider:
        late = [decider.decide("x", trained.features[0], exact, deadline=1e-9).found for _ in range(2)]
        assert late == ["infeasible"] * 2
        assert len(decider.log) == 1
        answers = [decider.decide("x", trained.features[0], exact, deadline=None) for _ in range(2)]
        assert len(decider.log) == 2
    assert [answer.found for answer in answers] == ["solved"] * 2
    assert answers[0].decision == answers[1].decision


def test_threads_share_one_logged_decider(trained: TrainedRun, tmp_path: Path) -> None:
    with LoggedDecider(trained.run, tmp_path / "d.db") as decider, ThreadPoolExecutor(4) as threads:
        pairs = list(zip(trained.days, trained.features, strict=True)) * 2
        answers = list(threads.map(lambda pair: decider.decide(pair[0], pair[1], deadline=None), pairs))
        assert len(decider.log) == len(trained.days)
    half = len(trained.days)
    assert [one.objective for one in answers[:half]] == [one.objective for one in answers[half:]]


def test_an_audit_needs_a_log(trained: TrainedRun, tmp_path: Path) -> None:
    _, costs = trained.write_later(tmp_path)
    with pytest.raises(FileError, match="there is no log of decisions"):
        audit_decisions(tmp_path / "none.db", costs)


def test_a_request_from_before_a_newer_one_is_the_latest_again(trained: TrainedRun, tmp_path: Path) -> None:
    with LoggedDecider(trained.run, tmp_path / "d.db") as decider:
        for k in (0, 1, 0):
            answer = decider.decide("monday", trained.features[k], deadline=None)
        last = decider.log.records()[-1]
    assert last.predicted.tolist() == list(answer.predicted.values())
