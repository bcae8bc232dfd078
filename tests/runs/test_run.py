from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from regretless.errors import FileError, InputError
from regretless.problems import load
from regretless.runs import Spec, run
from regretless.runs.run_lock import claim

SPEC = Spec("synthetic-knapsack-60", "map-dc", epochs=1, options={"days": 30})


@pytest.fixture(scope="module")
def loaded():
    return load("synthetic-knapsack-60", days=30)


def test_figures_say_what_was_not_solved_to_the_end(loaded, tmp_path: Path) -> None:
    figures = run(SPEC, tmp_path / "run", loaded=loaded)
    counts = ("not_optimal", "cut_short", "failed", "training_not_optimal", "training_failed")
    assert [figures[name] for name in counts] == [0] * 5
    assert figures["training_labels_not_optimal"] == 0


def test_a_folder_of_another_run_is_left_as_it_is(loaded, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "spec.json").write_text(json.dumps(SPEC.as_dict()))
    before = (folder / "spec.json").read_bytes()
    with pytest.raises(FileError, match=r"holds another run \(it differs in lr, seed\)"):
        run(replace(SPEC, seed=1, lr=0.2), folder, loaded=loaded)
    assert (folder / "spec.json").read_bytes() == before
    assert run(replace(SPEC, epochs=2), folder, loaded=loaded)["epochs"] == 2, "a run may be made longer"


@pytest.mark.parametrize("name", ["spec.json", "metrics.json"])
@pytest.mark.parametrize("content", ["", "[1, 2]", "{", '"text"'])
def test_damaged_files_of_a_run_are_named(name: str, content: str, loaded, tmp_path: Path) -> None:
    run(SPEC, tmp_path, loaded=loaded)
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError, match=name):
        run(SPEC, tmp_path, loaded=loaded)
    assert (tmp_path / name).read_text() == content


def test_what_a_killed_write_left_behind_is_swept_away(loaded, tmp_path: Path) -> None:
    (tmp_path / ".checkpoint.safetensors.0a1b2c3d.tmp").write_bytes(b"half")
    (tmp_path / "mine.tmp").write_bytes(b"not ours")
    run(SPEC, tmp_path, loaded=loaded)
    assert [path.name for path in tmp_path.glob("*.tmp")] == ["mine.tmp"]


def test_one_process_at_a_time_works_in_a_folder(loaded, tmp_path: Path) -> None:
    with claim(tmp_path / ".lock"), pytest.raises(FileError, match="another process is at work in"):
        run(SPEC, tmp_path, loaded=loaded)
    assert run(SPEC, tmp_path, loaded=loaded)["status"] == "done"


def test_the_policy_for_failures_is_an_option_of_every_problem() -> None:
    assert load("synthetic-knapsack-60", days=30, on_failure="skip").problem.on_failure == "skip"
    with pytest.raises(InputError, match="on_failure must be 'raise', 'cache' or 'skip', got 'ignore'"):
        load("synthetic-knapsack-60", days=30, on_failure="ignore")
