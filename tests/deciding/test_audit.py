from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from regretless.deciding import Decider
from regretless.deciding.audit import Audit, audit_decisions
from regretless.deciding.audited_run import AuditedRun
from regretless.deciding.decision_log import DecisionLog
from regretless.deciding.drift import feature_drift, regret_drift
from regretless.deciding.logged_decisions import LoggedDecider, LogRequest, decide_and_log, log_files
from regretless.errors import FileError, InputError
from regretless.runs import Spec, run
from regretless.runs.held_out import FILE as HELD_OUT
from regretless.runs.held_out import read_held_out
from regretless.runs.run_folder import read_two_stage
from regretless.storage import load_state, save_state
from regretless.tables.saved_problem import save_problem

from .conftest import ITEMS, WEIGHTS, TrainedRun, write_csv


def capacity(k: int) -> float:
    return 4.0 + k % 4


@pytest.fixture(scope="module")
def log(trained: TrainedRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of all later days, each with its own capacity."""
    decider, path = Decider.load(trained.run), tmp_path_factory.mktemp("audit") / "d.db"
    rows = [LogRequest(day, trained.features[k], {"row:weight": capacity(k)}) for k, day in enumerate(trained.days)]
    with DecisionLog(path) as log:
        run = log.add_run(log_files(decider, trained.run))
        decide_and_log(decider, log, run, rows, baseline=read_two_stage(decider.run.blank, trained.run))
    return path


def audited(log: Path, costs: Path) -> Audit:
    with DecisionLog(log, create=False) as opened:
        return audit_decisions(opened, costs, progress=False)


def files_with(decider: Decider, trained: TrainedRun, folder: Path, **changed: Any) -> dict[str, bytes]:
    """The files of the run, as if it had another saved problem."""
    assert decider.run.saved is not None
    save_problem(folder, replace(decider.run.saved, **changed).state())
    return log_files(decider, trained.run) | {path.name: path.read_bytes() for path in folder.iterdir()}


def brute_force(costs: np.ndarray, room: float) -> float:
    points = [np.array(x) for x in itertools.product((0, 1), repeat=6)]
    kept = [x for x in points if np.array(WEIGHTS) @ x[:5] - 4 * x[5] <= room and x[:5].sum() <= 4]
    return max(float(costs @ x[:5]) - 2 * x[5] + 10 for x in kept)


def test_regrets_are_those_of_brute_force_and_sums_are_sums(log: Path, trained: TrainedRun, tmp_path: Path) -> None:
    _, costs = trained.write_later(tmp_path)
    found = audited(log, costs)
    with DecisionLog(log, create=False) as opened:
        records = opened.records()
    assert len(found.days) == len(found.known) == 20
    for k, (day, record) in enumerate(zip(found.days, records, strict=True)):
        best = brute_force(trained.costs[k], capacity(k))
        value = float(trained.costs[k] @ record.decision[:5]) - 2 * record.decision[5] + 10
        assert day.best == pytest.approx(best)
        assert day.objective == pytest.approx(value)
        assert day.regret == pytest.approx(best - value)
        assert day.two_stage_regret is not None
        assert day.two_stage_regret >= -1e-9
        assert day.changed == (dict(day.decided) != dict(day.two_stage))
    total = found.totals()
    assert total["regret"] == pytest.approx(sum(day.regret or 0 for day in found.days))
    assert total["gain"] == pytest.approx(sum(day.gain or 0 for day in found.days))
    assert total["two_stage_regret"] == pytest.approx(sum(day.two_stage_regret or 0 for day in found.days))
    assert total["objective"] == pytest.approx(sum(day.objective or 0 for day in found.days))
    assert total["best"] == pytest.approx(sum(day.best or 0 for day in found.days))
    assert (total["days"], total["compared_days"]) == (20, 20)
    assert total["changed_decisions"] == sum(day.changed is True for day in found.days)
    assert total["gain_low"] is not None
    assert total["gain_high"] is not None
    assert total["gain_low"] <= total["gain"] <= total["gain_high"]  # type: ignore[operator]
    lost = sorted((day.regret for day in found.days if day.regret and day.regret > 1e-4), reverse=True)
    assert [day.regret for day in found.worst] == lost[:10]
    assert len(lost) < 20


def test_ten_days_are_the_worst_and_best_objectives_below_zero_count_by_their_size(
    log: Path, trained: TrainedRun, tmp_path: Path
) -> None:
    found = audited(log, trained.write_later(tmp_path)[1])
    days = tuple(replace(day, regret=float(k), best=-10.0 if k % 2 else 30.0) for k, day in enumerate(found.days[:12]))
    changed = replace(found, days=days)
    assert [day.regret for day in changed.worst] == [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
    assert changed.relative_regret == pytest.approx(66 / 240)


def test_one_day_has_a_gain_and_no_interval(log: Path, trained: TrainedRun, tmp_path: Path) -> None:
    costs = write_csv(tmp_path / "c.csv", ["instance", *ITEMS], [[trained.days[0], *trained.costs[0]]])
    total = audited(log, costs).totals()
    assert total["gain"] is not None
    assert (total["compared_days"], total["gain_low"], total["gain_high"]) == (1, None, None)


def test_true_costs_may_be_a_data_frame_in_any_order(log: Path, trained: TrainedRun, tmp_path: Path) -> None:
    _, costs = trained.write_later(tmp_path)
    frame = pd.read_csv(costs, parse_dates=["instance"])
    found = audit_decisions(log, frame.iloc[::-1, ::-1], progress=False)
    want = audited(log, costs)
    assert sorted((day.instance, day.regret) for day in found.days) == sorted((d.instance, d.regret) for d in want.days)
    with pytest.raises(InputError, match="costs must have a column 'instance'"):
        audit_decisions(log, frame[ITEMS], progress=False)
    with pytest.raises(InputError, match="no instance of costs \\(z"):
        audit_decisions(log, frame.assign(instance="z" + frame.index.astype(str)), progress=False)


def test_without_test_data_the_halves_of_the_log_are_compared_whatever_the_order_of_the_costs(
    trained: TrainedRun, tmp_path: Path
) -> None:
    decider, names = Decider.load(trained.run), [f"hour {k:02d}" for k in range(20)]
    with DecisionLog(tmp_path / "d.db") as log:
        run = log.add_run(log_files(decider, tmp_path))  # a folder without held-out data
        rows = [LogRequest(name, trained.features[0], {}) for name in names]
        chosen = np.array(list(decide_and_log(decider, log, run, rows, baseline=None)[0].decision[:5]))
    good, bad = 9 * chosen, 9 * (1 - chosen)  # the second half of the decisions turn out to be bad
    costs = [[name, *(good if k < 10 else bad)] for k, name in enumerate(names)]
    for rows_of_costs in (costs, costs[::-1]):
        found = audited(tmp_path / "d.db", write_csv(tmp_path / "c.csv", ["instance", *ITEMS], rows_of_costs))
        assert "has become higher" in found.regret_drift.sentence
        assert [day.instance for day in found.days] == [row[0] for row in rows_of_costs]


def test_days_without_costs_wait_and_costs_without_a_decision_are_named(
    log: Path, trained: TrainedRun, tmp_path: Path
) -> None:
    rows = [[day, *row] for day, row in zip(trained.days, trained.costs, strict=True)]
    costs = write_csv(tmp_path / "c.csv", ["instance", *ITEMS], [["2030-01-01", 1, 1, 1, 1, 1], *rows[:15]])
    found = audited(log, costs)
    assert found.waiting == trained.days[15:]
    assert found.not_logged == ("2030-01-01",)
    assert len(found.days) == 15


def test_an_hour_that_was_logged_alone_is_the_midnight_of_the_costs(trained: TrainedRun, tmp_path: Path) -> None:
    decider = Decider.load(trained.run)
    with DecisionLog(tmp_path / "d.db") as log:
        run = log.add_run(log_files(decider, trained.run))
        rows = [LogRequest(hour, trained.features[0], {}) for hour in ("2024-01-31", "2024-01-31 01:00:00")]
        decide_and_log(decider, log, run, rows, baseline=None)
    hours = [[f"2024-01-31 0{k}:00:00", *trained.costs[k]] for k in range(2)]
    found = audited(tmp_path / "d.db", write_csv(tmp_path / "c.csv", ["instance", *ITEMS], hours))
    assert (len(found.days), found.waiting, found.not_logged) == (2, (), ())


def test_a_midnight_that_was_logged_among_hours_is_the_day_of_the_costs(trained: TrainedRun, tmp_path: Path) -> None:
    decider = Decider.load(trained.run)
    with DecisionLog(tmp_path / "d.db") as log:
        rows = [LogRequest(f"2024-01-31 0{k}:00:00", trained.features[k], {}) for k in range(2)]
        decide_and_log(decider, log, log.add_run(log_files(decider, trained.run)), rows, baseline=None)
    costs = write_csv(tmp_path / "c.csv", ["instance", *ITEMS], [["2024-01-31", *trained.costs[0]]])
    found = audited(tmp_path / "d.db", costs)
    assert (len(found.days), found.waiting, found.not_logged) == (1, ("2024-01-31 01:00:00",), ())


def test_the_latest_decision_of_an_instance_counts(log: Path, trained: TrainedRun, tmp_path: Path) -> None:
    copy = tmp_path / "d.db"
    with DecisionLog(log, create=False) as old, DecisionLog(copy) as new:
        records = old.records()
        run = new.add_run(old.files_of(records[0].run))
        assert run == records[0].run
        new.append(records)
    decider = Decider.load(trained.run)
    with DecisionLog(copy) as new:
        decide_and_log(
            decider, new, run, [LogRequest(trained.days[0], trained.features[3], {})], baseline=None
        )  # fmt: skip
    _, costs = trained.write_later(tmp_path)
    found = audited(copy, costs)
    assert found.superseded == 1
    assert found.days[0].two_stage_regret is None
    assert found.totals()["compared_days"] == 19


def test_infeasible_decisions_are_counted_and_left_out(trained: TrainedRun, tmp_path: Path) -> None:
    decider = Decider.load(trained.run)
    too_many = {"row_lower:count": 6.0, "row_upper:count": 7.0}
    with DecisionLog(tmp_path / "d.db") as log:
        run = log.add_run(log_files(decider, trained.run))
        rows = [
            LogRequest(trained.days[0], trained.features[0], {}),
            *(LogRequest(trained.days[day], trained.features[day], too_many) for day in (1, 2)),
            LogRequest("2030-01-01", trained.features[1], too_many),
        ]
        decide_and_log(decider, log, run, rows, baseline=None)
    _, costs = trained.write_later(tmp_path)
    found = audited(tmp_path / "d.db", costs)
    assert (found.infeasible, found.waiting) == (2, ("2030-01-01",)), "a day without costs is in no figure"
    assert (found.as_dict()["infeasible"], found.as_dict()["waiting"]) == (2, ["2030-01-01"])
    assert len(found.known) == 1
    assert found.verdict is None
    total, day = found.totals(), found.known[0]
    assert (total["days"], total["compared_days"], total["changed_decisions"]) == (1, 0, 0)
    assert (total["objective"], total["best"], total["regret"]) == (day.objective, day.best, day.regret)
    assert [total[name] for name in ("two_stage_regret", "gain", "gain_low", "gain_high")] == [None] * 4


def test_regrets_and_features_are_compared_with_those_of_training(
    log: Path, trained: TrainedRun, tmp_path: Path
) -> None:
    _, costs = trained.write_later(tmp_path)
    found, view = audited(log, costs), read_held_out(trained.run)
    assert view is not None
    regrets = np.array([day.regret for day in found.days])
    what = "the test data of training"
    assert found.regret_drift == regret_drift(view.regrets.numpy(), regrets, what=what)
    assert found.regret_drift.p_value is not None
    used = feature_drift(view.features.numpy(), trained.features, ("a", "b", "c"), what="the training data")
    assert found.feature_drift.p_value == pytest.approx(used.p_value)
    assert len(view.features) == 30


def test_features_of_the_last_run_are_compared_and_named(trained: TrainedRun, tmp_path: Path) -> None:
    decider = Decider.load(trained.run)
    shifted = trained.features + np.array([0.0, 50.0, 0.0])
    rows = [LogRequest(day, shifted[k], {}) for k, day in enumerate(trained.days[:10])]
    _, costs = trained.write_later(tmp_path)
    with DecisionLog(tmp_path / "d.db") as log:
        files = log_files(decider, trained.run)
        decide_and_log(decider, log, log.add_run(files), rows, baseline=None)
        assert audit_decisions(log, costs, progress=False).feature_drift.changed == ("b",)
        other = log.add_run({k: v for k, v in files.items() if k != HELD_OUT})
        decide_and_log(decider, log, other, [LogRequest("2030-01-01", shifted[0], {})], baseline=None)
        found = audit_decisions(log, costs, progress=False)
    assert (len(found.days), found.waiting) == (10, ("2030-01-01",))
    assert found.feature_drift.p_value is None
    assert "there are 0 to test and 0 in the training data" in found.feature_drift.sentence


def test_without_test_data_the_halves_of_the_log_are_compared(trained: TrainedRun, tmp_path: Path) -> None:
    decider = Decider.load(trained.run)
    with DecisionLog(tmp_path / "d.db") as log:
        run = log.add_run({k: v for k, v in log_files(decider, trained.run).items() if k != HELD_OUT})
        rows = [LogRequest(day, trained.features[k], {}) for k, day in enumerate(trained.days)]
        decide_and_log(decider, log, run, rows, baseline=None)
    _, costs = trained.write_later(tmp_path)
    found = audited(tmp_path / "d.db", costs)
    regrets = np.array([day.regret for day in found.days])
    assert found.regret_drift == regret_drift(regrets[:10], regrets[10:], what="the first half of the log")
    assert found.regret_drift.p_value is not None
    assert found.feature_drift.p_value is None


def test_regrets_on_validation_data_are_not_compared_with(trained: TrainedRun, tmp_path: Path) -> None:
    decider, path = Decider.load(trained.run), tmp_path / HELD_OUT
    save_state(path, load_state(trained.run / HELD_OUT, kind="held_out") | {"on": "validation"}, kind="held_out")
    with DecisionLog(tmp_path / "d.db") as log:
        run = log.add_run(log_files(decider, trained.run) | {HELD_OUT: path.read_bytes()})
        rows = [LogRequest(day, trained.features[k], {}) for k, day in enumerate(trained.days)]
        decide_and_log(decider, log, run, rows, baseline=None)
    found = audited(tmp_path / "d.db", trained.write_later(tmp_path)[1])
    assert "the first half of the log" in found.regret_drift.sentence


def test_the_column_of_id_names_the_rows_of_the_costs(trained: TrainedRun, tmp_path: Path) -> None:
    decider = Decider.load(trained.run)
    assert decider.run.saved is not None
    assert decider.run.saved.encoding is not None
    (tmp_path / "files").mkdir()
    files = files_with(
        decider, trained, tmp_path / "files", encoding=replace(decider.run.saved.encoding, id="day")
    )  # fmt: skip
    with DecisionLog(tmp_path / "d.db") as log:
        rows = [LogRequest(trained.days[0], trained.features[0], {})]
        decide_and_log(decider, log, log.add_run(files), rows, baseline=None)
    costs = write_csv(tmp_path / "c.csv", ["day", *ITEMS], [[trained.days[0], *trained.costs[0]]])
    assert [day.instance for day in audited(tmp_path / "d.db", costs).days] == [trained.days[0]]


def test_a_log_of_runs_that_minimize_and_maximize_is_refused(trained: TrainedRun, tmp_path: Path) -> None:
    decider = Decider.load(trained.run)
    (tmp_path / "files").mkdir()
    with DecisionLog(tmp_path / "d.db") as log:
        for k, sense in enumerate(("max", "min")):
            run = log.add_run(files_with(decider, trained, tmp_path / "files", sense=sense))
            decide_and_log(decider, log, run, [LogRequest(trained.days[k], trained.features[k], {})], baseline=None)
    with pytest.raises(InputError, match=r"d\.db holds decisions of runs with different costs"):
        audited(tmp_path / "d.db", trained.write_later(tmp_path)[1])


def test_a_log_or_costs_that_cannot_be_audited_are_refused(log: Path, trained: TrainedRun, tmp_path: Path) -> None:
    _, costs = trained.write_later(tmp_path)
    with DecisionLog(tmp_path / "empty.db") as empty, pytest.raises(FileError, match="holds no decision yet"):
        audit_decisions(empty, costs)
    nameless = write_csv(tmp_path / "n.csv", ITEMS, trained.costs.tolist())
    with pytest.raises(InputError, match="column 'instance'"):
        audited(log, nameless)
    other = write_csv(tmp_path / "o.csv", ["instance", *ITEMS], [["monday", 1, 2, 3, 4, 5]])
    with pytest.raises(InputError, match=r"no instance of .*o\.csv \(monday\) is in .*d\.db .*: use the names of"):
        audited(log, other)
    missing = write_csv(tmp_path / "m.csv", ["instance", *ITEMS[1:]], [[trained.days[0], 2, 3, 4, 5]])
    with pytest.raises(InputError, match="missing: x_0"):
        audited(log, missing)


def test_damaged_files_of_a_run_name_the_log(trained: TrainedRun, tmp_path: Path) -> None:
    decider = Decider.load(trained.run)
    with DecisionLog(tmp_path / "d.db") as log:
        run = log.add_run({"problem.safetensors": b"nothing"})
        decide_and_log(decider, log, run, [LogRequest(trained.days[0], trained.features[0], {})], baseline=None)
    _, costs = trained.write_later(tmp_path)
    with pytest.raises(FileError, match=r"d\.db: the files of run .* are damaged"):
        audited(tmp_path / "d.db", costs)


def test_an_audit_is_plain_data(log: Path, trained: TrainedRun, tmp_path: Path) -> None:
    _, costs = trained.write_later(tmp_path)
    plain = audited(log, costs).as_dict()
    assert plain["days"][0]["instance"] == trained.days[0]
    assert plain["regret_drift"]["test"] == "Mann-Whitney U"
    assert plain["verdict"]["instances"] == 20


def test_workers_and_time_limit_are_those_that_are_given(
    log: Path, trained: TrainedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[dict[str, Any]] = []

    def noted(self: AuditedRun, record: Any, costs: Any, **how: Any) -> Any:
        seen.append(self._how)
        raise KeyboardInterrupt

    monkeypatch.setattr(AuditedRun, "day", noted)
    with pytest.raises(KeyboardInterrupt):
        audit_decisions(log, trained.write_later(tmp_path)[1], workers=3, time_limit=2.5, progress=False)
    assert seen == [{"workers": 3, "time_limit": 2.5}]


def test_a_feature_of_variables_that_is_the_same_for_all_instances_has_not_changed(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    hours, days = [f"x_{h}" for h in range(24)], [f"day {i}" for i in range(30)]
    names = " + ".join(hours)
    text = f"minimize\n cost: {names}\nsubject to\n r: {names} >= 3\nbinary\n {' '.join(hours)}\nend\n"
    (tmp_path / "m.lp").write_text(text)
    table = pd.DataFrame([(day, name, f"{h:02d}:00") for day in days for h, name in enumerate(hours)])
    table.columns = pd.Index(["instance", "variable", "hour"])
    table["load"], price = chance.normal(size=len(table)), chance.normal(size=len(table))
    costs = table[["instance", "variable"]].assign(price=price)
    for name, part in (("old", slice(0, 480)), ("new", slice(480, None))):
        table[part].to_csv(tmp_path / f"x_{name}.csv", index=False)
        costs[part].to_csv(tmp_path / f"c_{name}.csv", index=False)
    files = {"features": str(tmp_path / "x_old.csv"), "costs": str(tmp_path / "c_old.csv")}
    run(Spec(str(tmp_path / "m.lp"), "two-stage", options=files), tmp_path / "run", progress=False)
    with LoggedDecider(tmp_path / "run", tmp_path / "d.db") as decider:
        for day in days[20:]:
            decider.decide(day, table[table["instance"] == day].drop(columns="instance"))
    assert audit_decisions(tmp_path / "d.db", tmp_path / "c_new.csv", progress=False).feature_drift.changed == ()
