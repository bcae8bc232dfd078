from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from regretless.errors import InputError, MissingDependencyError
from regretless.runs import Spec
from regretless.runs.spec_check import check_spec, engine_of
from regretless.training import methods

SPEC = Spec("synthetic-knapsack-60", "map-dc")
FILE = Spec("model.lp", "map-dc", options={"features": "x.csv", "costs": "c.csv"})
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"problem": "tsp"}, "problem must be one of"),
    ({"options": {"dayz": 3}}, "has no option 'dayz'"),
    ({"options": {"days": "many"}}, "option 'days' of problem 'synthetic-knapsack-60' must be an integer, got 'many'"),
    ({"options": {"seed": -1}}, "option 'seed' of problem .* must be an integer, at least 0, got -1"),
    ({"options": {"engine": "abacus"}}, "engine must be one of"),
    ({"options": {"time_limit": 0}}, "time_limit must be positive"),
    ({"options": {"gap": 2, "engine": "highs"}}, "gap must be between 0 and 1, got 2"),
    ({"options": {"gap": 0.1}}, "--gap is for engines, and the solver of synthetic-knapsack-60 is its own"),
    ({"options": {"gap": 0.1, "engine": "batched-lp"}}, "engine 'batched-lp' has the options .* got 'gap'"),
    ({"options": {"on_failure": "shrug"}}, "on_failure must be"),
    ({"settings": {"temprature": 1}}, "does not know 'temprature'"),
    ({"settings": {"p_solve": 5}}, "p_solve must be between 0 and 1"),
    ({"settings": {"warm_start": True}}, "warm_start=True needs an engine"),
    ({"method": "spo", "settings": {"p_solve": 0.1}}, "'spo' does not know 'p_solve'"),
]


@pytest.mark.parametrize(("fields", "message"), WRONG)
def test_what_a_run_cannot_use_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_spec(replace(SPEC, **fields))


def test_sound_specifications_pass() -> None:
    for method in methods.names():
        if method != "direct":
            check_spec(replace(SPEC, method=method))
    check_spec(replace(SPEC, options={"engine": "highs", "time_limit": 5, "gap": 0.01}, settings={"warm_start": True}))
    check_spec(FILE)  # whether the files exist is found out by the one who reads them


def test_at_least_one_worker_is_needed() -> None:
    with pytest.raises(InputError, match="workers must be an integer, at least 1, got 0"):
        check_spec(SPEC, workers=0)


def test_an_unknown_executor_is_refused() -> None:
    with pytest.raises(InputError, match="executor must be one of threads, processes, ray"):
        check_spec(SPEC, executor="cluster")


def test_patience_needs_validation_data() -> None:
    with pytest.raises(InputError, match="add --validation"):
        check_spec(replace(FILE, patience=3))
    check_spec(replace(FILE, patience=3, options=FILE.options | {"validation": 0.1}))


@pytest.mark.parametrize(
    ("method", "options", "module"), [("direct", {}, "cma"), ("spo", {"engine": "scip"}, "pyscipopt.scip")]
)
def test_a_missing_package_is_named_at_once(
    method: str, options: dict[str, Any], module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=module.partition(".")[0]):
        check_spec(replace(SPEC, method=method, options=options, settings={}))


def test_the_engine_of_a_run_is_the_one_of_its_loader_unless_given() -> None:
    assert (engine_of(SPEC), engine_of(FILE)) == ("oracle", "highs")
    assert engine_of(replace(SPEC, options={"engine": "scip"})) == "scip"
