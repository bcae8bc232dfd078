from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from regretless.deciding import Decider, LoggedDecider, audit_decisions
from regretless.deciding.decision_log import DecisionLog
from regretless.errors import FileError, InputError

from .conftest import TrainedRun


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


def test_what_was_not_decided_in_time_is_decided_again(trained: TrainedRun, tmp_path: Path) -> None:
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
