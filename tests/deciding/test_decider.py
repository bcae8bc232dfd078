from __future__ import annotations

import copy
import itertools
import pickle
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import regretless as rl
from regretless.deciding import Decider, Decision
from regretless.errors import FileError, InputError
from regretless.runs import Spec, run
from regretless.runs.decide import decider as load_run
from regretless.solvers import Outcome
from regretless.solvers import engine as engines
from regretless.solvers.engine import EngineEntry
from regretless.types import Status

from .conftest import ITEMS, WEIGHTS, TrainedRun, write_csv


@pytest.fixture(scope="module")
def decider(trained: TrainedRun) -> Decider:
    return rl.Decider.load(trained.run)


def best_value(predicted: dict[str, float], capacity: float = 6.0, rent_cost: float = 2.0) -> float:
    """By brute force."""
    values = []
    for x in itertools.product((0, 1), repeat=6):
        weight = sum(w * taken for w, taken in zip(WEIGHTS, x, strict=False)) - 4 * x[5]
        if weight <= capacity and sum(x[:5]) <= 4:
            values.append(sum(predicted[name] * x[j] for j, name in enumerate(ITEMS)) - rent_cost * x[5] + 10)
    return max(values)


def test_a_decision_comes_by_name_and_is_optimal(decider: Decider, trained: TrainedRun) -> None:
    for row in trained.features[:5]:
        answer = decider.decide({"b": row[1], "a": row[0], "c": row[2]}, deadline=30.0)
        assert (answer.found, answer.status, answer.gap) == ("solved", Status.OPTIMAL, 0.0)
        assert answer.objective == pytest.approx(best_value(dict(answer.predicted)))
        assert answer.bound == pytest.approx(answer.objective)
        assert list(answer.decision) == [*ITEMS, "rent"]
        assert answer.feasible
        assert answer.violated == ()
        assert answer.runner_up is None


def test_constraints_of_the_request_replace_those_of_the_model(decider: Decider, trained: TrainedRun) -> None:
    row = trained.features[0]
    for capacity in (1.0, 4.0, 9.0):
        answer = decider.decide(row, {"row:weight": capacity}, deadline=30.0)
        assert answer.objective == pytest.approx(best_value(dict(answer.predicted), capacity))
    answer = decider.decide(row, {"fixed:rent": 0.5, "upper:x_0": 0}, deadline=30.0)
    assert answer.decision["x_0"] == 0.0
    known = decider.decide(row, {"fixed:rent": 0.5}, deadline=30.0)
    assert known.objective == pytest.approx(best_value(dict(known.predicted), rent_cost=-0.5))


def test_the_runner_up_is_worse_by_what_it_says(decider: Decider, trained: TrainedRun) -> None:
    decider.decide(trained.features[1], deadline=30.0)
    decider.decide(-trained.features[1], deadline=30.0)
    answer = decider.decide(trained.features[1], deadline=30.0, runner_up=True)
    second = answer.runner_up
    assert second is not None
    assert dict(second.decision) != dict(answer.decision)
    assert second.extra >= 0
    assert second.objective == pytest.approx(answer.objective - second.extra)


def test_an_infeasible_request_names_what_is_violated(decider: Decider, trained: TrainedRun) -> None:
    answer = decider.decide(trained.features[0], {"row_lower:count": 6, "row_upper:count": 7}, deadline=30.0)
    assert (answer.found, answer.status, answer.gap, answer.bound) == ("infeasible", Status.INFEASIBLE, None, None)
    assert not answer.feasible
    assert any(str(one).startswith("row count: ") for one in answer.violated)


def test_features_are_taken_by_name_from_frames_and_in_order_from_arrays(decider: Decider, trained: TrainedRun) -> None:
    row = trained.features[2]
    frame = pd.DataFrame([row[::-1]], columns=["c", "b", "a"])
    answers = [decider.decide(given, deadline=30.0) for given in (row, row.tolist(), frame, frame.iloc[0])]
    assert len({tuple(answer.predicted.items()) for answer in answers}) == 1


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"a": 1.0, "b": 2.0}, "missing: c"),
        ({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}, "unknown: d"),
        ([1.0, 2.0], r"shape \(3,\), got \(2,\)"),
        ([1.0, 2.0, float("nan")], "finite"),
        (["one", "two", "three"], "numbers"),
        (pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["a", "b", "c"]), "2 rows"),
    ],
)
def test_features_that_do_not_fit_are_refused(features: Any, message: str, decider: Decider) -> None:
    with pytest.raises(InputError, match=message):
        decider.decide(features)


@pytest.mark.parametrize("deadline", [np.inf, 1e300])
def test_an_endless_deadline_waits_for_the_engine(deadline: float, decider: Decider, trained: TrainedRun) -> None:
    assert decider.decide(trained.features[0], deadline=deadline).found == "solved"


def test_constraints_that_do_not_fit_are_refused(decider: Decider, trained: TrainedRun) -> None:
    with pytest.raises(InputError, match="did you mean row:weight"):
        decider.decide(trained.features[0], {"row:weigth": 1.0})
    with pytest.raises(InputError, match="expected a finite number"):
        decider.decide(trained.features[0], {"row:weight": "much"})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="no value lies between"):
        decider.decide(trained.features[0], {"lower:rent": 2.0})
    with pytest.raises(InputError, match="constraints must be a Mapping, got list"):
        decider.decide(trained.features[0], [("row:weight", 1.0)])  # type: ignore[arg-type]
    for deadline in (0.0, "soon"):
        with pytest.raises(InputError, match="deadline must be positive seconds or None, got"):
            decider.decide(trained.features[0], deadline=deadline)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{"engine": "hihgs"}, {"nonsense": 1}])
def test_a_wrong_engine_or_setting_is_refused_when_a_run_is_loaded(
    settings: dict[str, Any], trained: TrainedRun
) -> None:
    with pytest.raises(InputError, match=r"hihgs|nonsense"):
        Decider.load(trained.run, **settings)


def test_the_text_of_a_decider_has_its_model_and_a_copy_is_refused_with_the_remedy(decider: Decider) -> None:
    assert repr(decider).startswith(f"Decider({decider.milp!r}, engine='highs', known=")
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be copied or pickled: load it where it is used"):
            copied(decider)


def test_training_leaves_decisions_to_fall_back_on(trained: TrainedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, *_: Any, **__: Any) -> None: ...

        def solve(self, *_: Any) -> Outcome:
            raise RuntimeError("broken")

    install(monkeypatch, Broken)
    broken = Decider.load(trained.run, engine="test-engine")
    assert broken.known > 3
    answer = broken.decide(trained.features[0], deadline=30.0)
    assert answer.found == "cached"
    assert answer.gap is not None
    best = best_value(dict(answer.predicted))
    assert answer.bound is not None
    assert answer.objective <= best + 1e-9 <= answer.bound + 2e-9
    assert "broken" in answer.message


def test_many_threads_with_an_engine_that_hangs_fails_and_lies_are_all_answered(
    trained: TrainedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = itertools.count()

    class Faulty:
        def __init__(self, milp: Any, **_: Any) -> None:
            self.n = milp.n

        def solve(self, *_: Any) -> Outcome:
            k = next(count) % 4
            if k == 0:
                raise SystemExit("injected")
            if k == 1:
                time.sleep(0.3)
            return Outcome(np.ones(self.n), Status.OPTIMAL) if k == 2 else Outcome(None, Status.INFEASIBLE, np.inf)

    install(monkeypatch, Faulty)
    decider = Decider.load(trained.run, engine="test-engine")
    answers: list[tuple[Decision, float]] = []

    def requests(seed: int) -> None:
        chance = np.random.default_rng(seed)
        for _ in range(6):
            capacity = float(chance.integers(2, 9))
            answers.append((decider.decide(chance.normal(size=3), {"row:weight": capacity}, deadline=0.15), capacity))

    threads = [threading.Thread(target=requests, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 24
    for answer, capacity in answers:
        x = [answer.decision[name] for name in [*ITEMS, "rent"]]
        weight = sum(w * taken for w, taken in zip(WEIGHTS, x, strict=False)) - 4 * x[5]
        assert (weight <= capacity and sum(x[:5]) <= 4) == answer.feasible


def install(monkeypatch: pytest.MonkeyPatch, kind: type) -> None:
    module = ModuleType("test_engine_module")
    module.build = kind  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "test_engine_module", module)
    monkeypatch.setitem(engines.TABLE, "test-engine", EngineEntry("test_engine_module", "numpy", "numpy", "MIT"))


def test_a_run_on_a_named_problem_or_without_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is no run"):
        Decider.load(tmp_path / "none")
    run(
        Spec("synthetic-knapsack-60", "two-stage", settings={"fit": "best"}, options={"days": 20}),
        tmp_path / "run", progress=False,
    )  # fmt: skip
    with pytest.raises(InputError, match="a run on a model file"):
        Decider.load(tmp_path / "run")


def test_a_decision_is_plain_data(decider: Decider, trained: TrainedRun) -> None:
    plain = decider.decide(trained.features[0], deadline=30.0).as_dict()
    assert plain["status"] == "optimal"
    assert plain["decision"]["rent"] in (0.0, 1.0)


def test_threads_end_with_close(trained: TrainedRun) -> None:
    decider = Decider.load(trained.run)
    decider.close()
    until = time.monotonic() + 10
    while decider.hanging and time.monotonic() < until:
        time.sleep(0.01)
    assert decider.hanging == 0


def test_a_decider_keeps_the_time_limit_and_gap_of_the_run_its_workers_and_a_model_that_does_not_train(
    trained: TrainedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_run(trained.run)
    assert loaded.saved is not None
    loaded.model.train()
    ready = Decider(replace(loaded, saved=replace(loaded.saved, time_limit=7.0, gap=0.1)), workers=2)
    assert ready._answers.engines.options == {"gap": 0.1}
    assert not ready.model.training
    assert ready.known == ready.solved.solves == 1, "it has solved once"
    assert ready._answers._slots._value == 2
    limits: list[float | None] = []
    solve = ready._answers.engines.solve

    def noted(milp: Any, objective: Any, limit: float | None) -> Outcome:
        limits.append(limit)
        return solve(milp, objective, limit)

    monkeypatch.setattr(ready._answers.engines, "solve", noted)
    ready.decide(trained.features[0], deadline=None)
    assert limits == [7.0]


def test_a_level_that_training_never_saw_is_refused_or_counts_as_none_of_the_known_ones(tmp_path: Path) -> None:
    model = "minimize\n c: x_0 + x_1\nsubject to\n one: x_0 + x_1 >= 1\nbinary\n x_0 x_1\nend\n"
    (tmp_path / "model.lp").write_text(model)
    write_csv(tmp_path / "x.csv", ["sky"], [["fog"], ["rain"]] * 6)
    write_csv(tmp_path / "c.csv", ["x_0", "x_1"], [[1, 2], [2, 1]] * 6)
    options = {"features": str(tmp_path / "x.csv"), "costs": str(tmp_path / "c.csv")}
    run(Spec(str(tmp_path / "model.lp"), "two-stage", options=options), tmp_path / "run", progress=False)
    with pytest.raises(InputError, match=r"column 'sky': 'hail' was never seen .* \(in Python unseen='other'"):
        Decider.load(tmp_path / "run").decide({"sky": "hail"}, deadline=None)
    assert Decider.load(tmp_path / "run", unseen="other").decide({"sky": "hail"}, deadline=None).found == "solved"
    with pytest.raises(InputError, match="unseen must be 'refuse' or 'other', got 'ignore'"):
        Decider.load(tmp_path / "run", unseen="ignore")  # type: ignore[arg-type]
