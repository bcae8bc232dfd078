from __future__ import annotations

from pathlib import Path

import pytest
import torch

from regretless.errors import FileError
from regretless.losses import MAP, ExpectedRegret, SPOPlus
from regretless.solvers.found_decisions import FoundDecisions
from regretless.storage import load_state, save_state
from regretless.training.stack_checkpoint import KIND, VERSION

from .stacks import SETTINGS, Counter, cache, data, run


def falling(shared):
    """Losses of which the second depends on the steps that it has taken."""
    temperature = {"temperature": 0.3, "final_temperature": 0.05, "anneal_steps": 12}
    return [MAP(shared, reduction="none"), ExpectedRegret(shared, reduction="none", **temperature)]


@pytest.mark.parametrize("kind", ["linear", "dropout"])
def test_a_search_that_was_stopped_continues_from_its_checkpoint(tmp_path: Path, kind: str):
    problem, train = data()
    how = {"p_solve": 0.2, "losses": falling}
    undisturbed = run(problem, train, kind, observer=Counter(), **how)
    path = tmp_path / "search.safetensors"

    class StopError(Exception):
        pass

    class Stopping(Counter):
        def on_step(self, predicted, index, valid):
            super().on_step(predicted, index, valid)
            if self.steps == 6:
                raise StopError

    with pytest.raises(StopError):
        run(problem, train, kind, observer=Stopping(), checkpoint=path, identity={"a": 1}, **how)
    resumed = run(problem, train, kind, observer=Counter(), checkpoint=path, identity={"a": 1}, **how)
    for name, value in undisturbed.snapshots[3].items():
        assert torch.equal(resumed.snapshots[3][name], value)
    with pytest.raises(FileError, match="another search: it differs in a"):
        run(problem, train, kind, observer=Counter(), checkpoint=path, identity={"a": 2}, **how)


def test_runs_that_had_diverged_stay_dropped_and_the_time_used_counts(tmp_path: Path):
    problem, train = data()
    path = tmp_path / "search.safetensors"
    run(problem, train, observer=Counter(stop_after=1), checkpoint=path)
    content = load_state(path, kind=KIND, version=VERSION)
    content["diverged"][1, 2] = True
    save_state(path, content | {"seconds": 1000.0}, kind=KIND, version=VERSION)
    resumed = run(problem, train, observer=Counter(), checkpoint=path)
    assert resumed.diverged.nonzero().tolist() == [[1, 2]]
    assert 1000 < resumed.seconds < 2000


def test_a_cache_that_only_the_observer_has_is_stored_and_restored(tmp_path: Path):
    problem, train = data()
    sizes = []
    for first in (train, train[:1]):
        observer = Counter(stop_after=1)
        observer.cache = cache(problem, first)
        how = {"settings": SETTINGS[:1], "losses": lambda shared: [SPOPlus(problem, reduction="none")]}
        run(problem, train, observer=observer, checkpoint=tmp_path / "search.safetensors", **how)
        sizes.append(len(observer.cache))
    assert sizes[0] == sizes[1] > 1


def test_decisions_that_were_found_before_are_those_of_the_search(tmp_path: Path):
    problem, train = data()
    problem.found = FoundDecisions(problem.dimension)
    run(problem, train, p_solve=0.5, observer=Counter(stop_after=2), checkpoint=tmp_path / "search.safetensors")
    before = problem.found.rows.tolist()
    problem.found = FoundDecisions(problem.dimension)
    run(problem, train, p_solve=0.0, observer=Counter(stop_after=2), checkpoint=tmp_path / "search.safetensors")
    assert problem.found.rows.tolist() == before != []


@pytest.mark.parametrize(
    "field", ["parameters", "adam", "generators", "global", "diverged", "running", "cache", "snapshots"]
)
def test_a_checkpoint_that_does_not_fit_the_search_is_named(tmp_path: Path, field: str):
    problem, train = data()
    path = tmp_path / "search.safetensors"
    run(problem, train, checkpoint=path)
    content = load_state(path, kind=KIND, version=VERSION)
    save_state(path, content | {field: None}, kind=KIND, version=VERSION)
    with pytest.raises(FileError, match=r"search\.safetensors does not fit this search"):
        run(problem, train, checkpoint=path)


def test_a_checkpoint_without_the_snapshots_of_its_epochs_is_refused(tmp_path: Path):
    problem, train = data()
    path = tmp_path / "search.safetensors"
    run(problem, train, checkpoint=path)
    content = load_state(path, kind=KIND, version=VERSION)
    save_state(path, content | {"snapshots": []}, kind=KIND, version=VERSION)
    with pytest.raises(FileError, match=r"snapshots of epochs \[\] do not fit 3 epochs"):
        run(problem, train, checkpoint=path)


def test_a_search_that_ended_is_not_trained_again(tmp_path: Path):
    problem, train = data()
    path = tmp_path / "search.safetensors"
    ended = run(problem, train, observer=Counter(stop_after=2), checkpoint=path)
    observer = Counter(stop_after=2)
    again = run(problem, train, observer=observer, checkpoint=path)
    assert (again.reason, observer.steps) == (ended.reason, 8)
    assert torch.equal(again.snapshots[2]["weight"], ended.snapshots[2]["weight"])
