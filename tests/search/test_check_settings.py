from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from regretless.cache import Bernoulli
from regretless.errors import InputError, MissingDependencyError
from regretless.search.check_settings import check_settings
from regretless.solvers.engine import available
from regretless.training import Interrupted, methods
from regretless.training.interrupt import Interruption

NAN = float("nan")
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("auto", {"sample": 9}), ("map-dc", {"temprature": 1}), ("map-dc", {"p_solve": 5}), ("map-dc", {"p_solve": "abc"}),
    ("map-dc", {"p_solve": NAN}), ("map-dc", {"p_solve": None}), ("map-dc", {"grow_at": "foo"}),
    ("map-dc", {"policy": 3}), ("map-dc", {"policy": "dice"}), ("map-dc", {"policy": "gap-above", "epsilon": -1}),
    ("map-dc", {"p_epochs": 3}), ("map-dc", {"capacity": 0}), ("map-dc", {"capacity": "x"}),
    ("map-dc", {"capacity": 2.5}), ("map-dc", {"evict": "x"}), ("map-dc", {"bound": "x"}),
    ("map-dc", {"select": "x"}), ("map-dc", {"warm_start": True}), ("spo", {"p_solve": 0.05}),
    ("nce-c", {"over": "x"}), ("soft", {"temperature": -1}), ("soft", {"temperature": "a"}),
    ("soft", {"warm_up_steps": -1}), ("soft", {"scale": "x"}), ("soft", {"final_temperature": 0.01}),
    ("listwise", {"temperature": 0}), ("pairwise", {"margin": "a"}), ("blackbox", {"lambda_": 0}),
    ("qptl", {"tau": -1}), ("interior", {"cutoff": 0}), ("two-stage", {"criterion": "mae"}),
    ("direct", {"generations": 0}), ("direct", {"generations": 2.5}), ("direct", {"population": 1}),
    ("direct", {"sigma": NAN}), ("auto", {"fallback": "no"}), ("auto", {"ordered": "False"}),
]  # fmt: skip


@pytest.mark.parametrize("method", methods.names())
def test_the_defaults_of_every_method_pass(method: str) -> None:
    if method == "direct":
        pytest.importorskip("cma")
    check_settings(method, {})


@pytest.mark.parametrize("engine", [name for name, there in available().items() if there])
@pytest.mark.parametrize("method", ["auto", "spo-cache", "two-stage"])
def test_every_engine_passes(method: str, engine: str) -> None:
    check_settings(method, {}, engine=engine)


@pytest.mark.parametrize(("method", "settings"), WRONG)
def test_settings_that_cannot_be_used_are_named(method: str, settings: dict[str, Any]) -> None:
    if method == "direct":
        pytest.importorskip("cma")
    with pytest.raises(InputError, match=list(settings)[-1]):
        check_settings(method, settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"policy": "largest-gap", "p_solve": 0.1}, {"policy": "gap-above"}, {"policy": "batch-coin"}, {"bound": "own"},
        {"p_solve": 0.5, "final_p_solve": 0.01, "p_epochs": 3}, {"policy": "largest-gap", "bound": "linear"},
        {"capacity": 1}, {"grow_at": "transformed", "p_solve": 1.0},
    ],
)  # fmt: skip
def test_settings_of_caches_and_policies_pass(settings: dict[str, Any]) -> None:
    check_settings("map-dc", settings)


@pytest.mark.parametrize("name", ["seed", "epochs", "lr", "start", "checkpoint", "progress", "solutions", "validation"])
@pytest.mark.parametrize("method", ["auto", "map-dc"])
def test_arguments_of_train_are_no_settings(
    method: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"method '{method}' does not know '{name}': its settings are "):
        check_settings(method, {name: "x"})
    assert not list(tmp_path.iterdir())  # a checkpoint, say


def test_a_check_changes_neither_its_settings_nor_the_global_random_state() -> None:
    policy = Bernoulli(0.5)
    settings, before = {"policy": policy}, torch.random.get_rng_state()
    check_settings("map-dc", settings)
    assert settings == {"policy": policy}
    assert torch.equal(torch.random.get_rng_state(), before)


def test_an_engine_is_tried_before_the_problem_is_solved() -> None:
    check_settings("map-dc", {"warm_start": True}, engine="highs", time_limit=5.0, workers=2)
    with pytest.raises(InputError, match="engine must be one of"):
        check_settings("map-dc", {}, engine="abacus")
    with pytest.raises(InputError, match="time_limit"):
        check_settings("map-dc", {}, engine="highs", time_limit=-1.0)


def test_no_engine_is_needed_where_a_function_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    for method, settings in (("map-dc", {}), ("map-dc", {"policy": "largest-gap"}), ("qptl", {})):
        check_settings(method, settings)
    with pytest.raises(MissingDependencyError, match="highspy"):
        check_settings("map-dc", {}, engine="highs")


def test_settings_that_have_passed_are_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    monkeypatch.setattr("regretless.search.check_settings.train", lambda *_, **given: tried.append(given["method"]))
    for _ in range(2):
        check_settings("map-dc", {"p_solve": 0.5})
    assert len(tried) == 1
    check_settings("map-dc", {"p_solve": 0.6})
    check_settings("map-dc", {"p_solve": 0.5}, engine="highs")
    assert len(tried) == 3
    for _ in range(2):  # two policies may differ in what their text does not say
        check_settings("map-dc", {"policy": Bernoulli(0.5)})
    assert len(tried) == 5


def test_settings_that_were_refused_are_refused_again() -> None:
    for _ in range(2):
        with pytest.raises(InputError, match="p_solve"):
            check_settings("map-dc", {"p_solve": 2.0})


@pytest.mark.parametrize("method", ["map-dc", "auto"])
def test_a_signal_while_settings_are_checked_is_reported_as_that(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    enter = Interruption.__enter__

    def signalled(self: Interruption) -> Interruption:
        entered = enter(self)
        signal.raise_signal(signal.SIGTERM)
        return entered

    monkeypatch.setattr(Interruption, "__enter__", signalled)
    with pytest.raises(Interrupted, match=r"^SIGTERM: ended while the settings were checked, before training began$"):
        check_settings(method, {}, time_limit=77.0)  # which has not passed before
