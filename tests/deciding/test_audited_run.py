from __future__ import annotations

import dataclasses
import itertools
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.deciding import Decider
from regretless.deciding.audited_run import AuditedDay, AuditedRun, NamedValues, losses, places_of
from regretless.deciding.decision_log import DecisionLog
from regretless.deciding.decision_record import Record
from regretless.deciding.logged_decisions import log_files
from regretless.errors import FileError
from regretless.milp import MILP, Floats
from regretless.problem import Problem
from regretless.types import Decisions, Status

from .conftest import ITEMS, WEIGHTS, TrainedRun


def test_values_are_found_by_name_and_equal_those_of_a_dict() -> None:
    values = NamedValues(places_of(["a", "b"]), np.array([1.0, 2.5]))
    assert values == {"a": 1.0, "b": 2.5}
    assert (list(values), len(values)) == (["a", "b"], 2)
    assert repr(values) == "{'a': 1.0, 'b': 2.5}"
    with pytest.raises(KeyError):
        values["c"]


def test_many_decisions_take_the_memory_of_their_numbers() -> None:
    places, numbers = places_of([f"x_{i}" for i in range(500)]), np.random.default_rng(0).normal(size=(400, 500))
    tracemalloc.start()
    kept = [NamedValues(places, row.copy()) for row in numbers]
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(kept) == 400
    assert size < 1.5 * numbers.nbytes  # dicts take about eight times as much


NOTHING, ONE = np.zeros(6), np.array([1.0, 0, 0, 0, 0, 0])


@pytest.fixture(scope="module")
def log(trained: TrainedRun, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DecisionLog]:
    with DecisionLog(tmp_path_factory.mktemp("audited") / "d.db") as made:
        yield made


@pytest.fixture(scope="module")
def run(log: DecisionLog, trained: TrainedRun) -> AuditedRun:
    return AuditedRun(log, log.add_run(log_files(Decider.load(trained.run), trained.run)))


def record(decision: Floats, found: str = "solved", two_stage: Floats | None = None, **constraints: float) -> Record:
    """What the log holds of one day; the audit compares the decision, whatever was predicted."""
    return Record("run", "monday", np.zeros(3), np.zeros(5), decision, 0.0, "optimal", found,
                  {f"row:{name}": value for name, value in constraints.items()}, two_stage=two_stage)  # fmt: skip


def day(run: AuditedRun, one: Record, costs: Floats) -> AuditedDay:
    return run.day(one, costs)


def forget_problem(run: AuditedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the run make its problem again, in this test only."""
    monkeypatch.setitem(vars(run), "_written", None)
    del vars(run)["_written"]


def value(costs: Floats, x: Floats) -> float:
    return float(costs @ x[:5] - 2 * x[5] + 10)


def best(costs: Floats, room: float) -> Floats:
    """By brute force; the costs of these tests leave one optimum only."""
    points = [np.array(x, dtype=float) for x in itertools.product((0, 1), repeat=6)]
    kept = [x for x in points if np.array(WEIGHTS) @ x[:5] - 4 * x[5] <= room and x[:5].sum() <= 4]
    return max(kept, key=lambda x: value(costs, x))


@pytest.mark.parametrize("room", [3.0, 6.0])
def test_objective_best_and_regret_are_those_of_brute_force(run: AuditedRun, room: float) -> None:
    chance = np.random.default_rng(int(room))
    for _ in range(5):
        costs, expected = chance.normal(2, 3, size=5), chance.normal(2, 3, size=5)
        decided, two_stage = best(chance.normal(2, 3, size=5), room), best(expected, room)
        found = day(run, record(decided, two_stage=expected, weight=room), costs)
        hindsight = best(costs, room)
        assert found.objective == pytest.approx(value(costs, decided))
        assert found.best == pytest.approx(value(costs, hindsight))
        assert found.regret == pytest.approx(value(costs, hindsight) - value(costs, decided))
        assert found.two_stage_objective == pytest.approx(value(costs, two_stage))
        assert found.two_stage_regret == pytest.approx(value(costs, hindsight) - value(costs, two_stage))
        assert found.gain == pytest.approx(value(costs, decided) - value(costs, two_stage))
        assert dict(found.hindsight) == dict(zip(ITEMS, hindsight[:5], strict=True))
        assert dict(found.two_stage) == dict(zip(ITEMS, two_stage[:5], strict=True))


def test_a_cost_that_is_minimized_has_a_regret_above_the_best_one(
    run: AuditedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    milp = MILP([[1.0] * 5], row_lower=2.0)  # without costs that are known
    monkeypatch.setattr(run, "saved", dataclasses.replace(run.saved, milp=milp, sense="min"))
    forget_problem(run, monkeypatch)
    costs, expected = np.array([3.0, 1.0, 4.0, 1.5, 5.0]), np.array([1.0, 5.0, 1.0, 5.0, 5.0])
    found = day(run, record(np.array([1.0, 1.0, 0.0, 0.0, 0.0]), two_stage=expected), costs)
    assert (found.objective, found.best, found.two_stage_objective) == pytest.approx((4.0, 2.5, 7.0))
    assert (found.regret, found.two_stage_regret, found.gain) == pytest.approx((1.5, 4.5, 3.0))


def test_a_decision_is_changed_where_its_variables_with_costs_differ_by_more_than_rounding(run: AuditedRun) -> None:
    costs = np.array([9.0, -1, -1, -1, -1])  # two-stage decides ONE at these
    assert day(run, record(ONE, two_stage=costs), costs).changed is False
    assert day(run, record(ONE + 1e-9, two_stage=costs), costs).changed is False
    assert day(run, record(NOTHING, two_stage=costs), costs).changed is True


@pytest.mark.parametrize("missing", [record(NOTHING, "infeasible"), record(np.full(6, np.nan), "none")])
def test_a_missing_or_infeasible_decision_has_no_regret_and_the_rest_stays(run: AuditedRun, missing: Record) -> None:
    costs = np.array([9.0, -1, -1, -1, -1])
    found = day(run, dataclasses.replace(missing, two_stage=costs), costs)
    assert (found.objective, found.regret, found.gain, found.changed) == (None, None, None, None)
    assert found.best == pytest.approx(19.0)
    assert found.two_stage_regret == pytest.approx(0.0)
    assert found.decided == {}


def test_without_a_baseline_there_is_no_comparison(run: AuditedRun) -> None:
    found = day(run, record(ONE), np.ones(5))
    assert (found.two_stage_objective, found.two_stage_regret, found.gain, found.changed) == (None, None, None, None)
    assert found.regret is not None


def test_a_day_without_any_feasible_decision_has_no_best(run: AuditedRun) -> None:
    impossible = dataclasses.replace(record(ONE), constraints={"row_lower:count": 6.0, "row_upper:count": 7.0})
    found = day(run, impossible, np.ones(5))
    assert (found.best, found.regret, found.hindsight) == (None, None, {})
    assert found.objective == pytest.approx(11.0)


def test_a_day_says_whether_its_solves_are_proven_optimal(run: AuditedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = Problem.solve
    assert day(run, record(ONE, two_stage=np.ones(5)), np.ones(5)).proven

    def cut_short(self: Problem, *given: Any) -> Decisions:
        made = exact(self, *given)
        return dataclasses.replace(made, status=[Status.TIME_LIMIT, *made.status[1:]])

    monkeypatch.setattr(Problem, "solve", cut_short)
    found = day(run, record(ONE, two_stage=np.ones(5)), np.ones(5))
    assert not found.proven
    assert found.regret is not None


def test_a_run_is_read_from_the_log_alone_with_what_its_training_saw(run: AuditedRun, trained: TrainedRun) -> None:
    assert run.saved.cost_names == tuple(ITEMS)
    assert run.view is not None
    assert run.view.features.shape[1] == 3


def test_a_run_without_held_out_data_has_no_view(log: DecisionLog, trained: TrainedRun, tmp_path: Path) -> None:
    name = log.add_run(log_files(Decider.load(trained.run), tmp_path))
    assert AuditedRun(log, name).view is None


@pytest.mark.parametrize("files", [{}, {"problem.safetensors": b"nothing"}])
def test_missing_or_damaged_files_name_log_and_run(log: DecisionLog, files: dict[str, bytes]) -> None:
    name = log.add_run(files)
    with pytest.raises(FileError, match=rf"d\.db: the files of run {name} are damaged: .*problem\.safetensors"):
        AuditedRun(log, name)


@pytest.fixture
def made(run: AuditedRun, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The settings of every problem that a run makes from now on."""
    settings: list[dict[str, Any]] = []
    original = Problem.__init__

    def noted(self: Problem, *given: Any, **how: Any) -> None:
        settings.append(how)
        original(self, *given, **how)

    monkeypatch.setattr(Problem, "__init__", noted)
    forget_problem(run, monkeypatch)
    return settings


def test_days_without_constraints_share_one_problem(run: AuditedRun, made: list[dict[str, Any]]) -> None:
    chance = np.random.default_rng(0)
    for costs in chance.normal(2, 3, size=(4, 5)):
        found = day(run, record(NOTHING), costs)
        assert found.best == pytest.approx(value(costs, best(costs, 6.0)))
    assert len(made) == 1
    day(run, record(NOTHING, weight=3.0), np.ones(5))
    assert len(made) == 2


@pytest.mark.parametrize(("given", "used"), [(None, 7.0), (3.0, 3.0)])
def test_a_day_is_solved_as_in_training_but_for_a_time_limit_that_is_given(
    given: float | None, used: float, run: AuditedRun, made: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "saved", dataclasses.replace(run.saved, engine="cpsat", time_limit=7.0, gap=0.1))
    monkeypatch.setattr(run, "_how", {"workers": 2, "time_limit": given})
    run.day(record(ONE), np.ones(5))
    assert made == [{"sense": "max", "engine": "cpsat", "workers": 2, "time_limit": used, "gap": 0.1}]


def test_a_regret_of_rounding_at_an_objective_of_zero_is_no_loss() -> None:
    assert losses([1e-7, 1.0, 1e-3], [0.0, 1e6, 0.0]) == [False, False, True]
    assert losses([], []) == []


def test_a_day_as_plain_data_has_dicts(run: AuditedRun) -> None:
    plain = day(run, record(ONE), np.ones(5)).as_dict()
    assert list(plain) == [field.name for field in dataclasses.fields(AuditedDay)]
    assert type(plain["decided"]) is type(plain["hindsight"]) is type(plain["two_stage"]) is dict
    assert plain["decided"] == dict(zip(ITEMS, ONE[:5], strict=True))


@pytest.mark.parametrize(
    "changed",
    [{"features": NOTHING}, {"predicted": NOTHING}, {"decision": np.zeros(5)}, {"two_stage": NOTHING},
     {"constraints": {"row:nothing": 1.0}}],
)  # fmt: skip
def test_a_decision_that_does_not_fit_its_model_names_the_log(changed: dict[str, Any], run: AuditedRun) -> None:
    damaged = dataclasses.replace(record(ONE), **changed)
    with pytest.raises(FileError, match=r"d\.db is damaged: the decision for 'monday' .*fit its model"):
        run.day(damaged, np.zeros(5))
