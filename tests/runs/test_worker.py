from __future__ import annotations

import json
from pathlib import Path

from regretless.runs import Spec
from regretless.runs.run_folder import run_path
from regretless.runs.run_lock import try_lock
from regretless.runs.worker import Worker
from tests import forked

SPEC = Spec("synthetic-knapsack-60", "spo", epochs=1, options={"days": 20})


def test_a_run_is_done_once_and_its_problem_loaded_once(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    assert worker.attempt(SPEC)["status"] == "done"
    written = (run_path(tmp_path, SPEC) / "metrics.json").stat().st_mtime_ns
    assert worker.attempt(SPEC)["status"] == "done"
    assert (run_path(tmp_path, SPEC) / "metrics.json").stat().st_mtime_ns == written
    worker.attempt(Spec("synthetic-knapsack-60", "nce-c", epochs=1, options={"days": 20}))
    assert len(worker.loaded) == 1


def test_a_failed_run_is_recorded_and_a_later_success_forgets_it(tmp_path: Path) -> None:
    wrong = Spec("synthetic-knapsack-60", "spo", epochs=1, options={"days": 20, "split": "paper"})
    answer = Worker(tmp_path).attempt(wrong)
    assert answer["status"] == "failed"
    assert "chronological" in answer["error"]
    assert (run_path(tmp_path, wrong) / "failure.json").exists()
    folder = run_path(tmp_path, SPEC)
    folder.mkdir(parents=True)
    (folder / "failure.json").write_text("{}")
    assert Worker(tmp_path).attempt(SPEC)["status"] == "done"
    assert not (folder / "failure.json").exists()


def test_a_run_that_another_process_has_is_left_alone(tmp_path: Path) -> None:
    with try_lock(tmp_path / ".locks" / SPEC.digest):
        assert Worker(tmp_path).attempt(SPEC)["status"] == "busy"
    assert not run_path(tmp_path, SPEC).exists()


# test_worker_pool.py has the process that is left alone.
def test_the_process_answers_line_by_line_and_ends_when_told(tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.write_text(json.dumps(SPEC.as_dict()) + "\n\n")
    script = f"""
import runpy
sys.stdin = open({str(told)!r})
runpy.run_module("regretless.runs.worker", run_name="__main__")
"""
    process = forked.start(script, tmp_path, output=tmp_path / "said")
    process.join(60)
    said = (tmp_path / "said").read_text()
    assert (process.exitcode, json.loads(said)["status"]) == (0, "done")


def test_a_failure_that_cannot_be_recorded_is_still_answered(tmp_path: Path) -> None:
    (tmp_path / "runs").touch()  # as on a full disk, no file can be made there
    answer = Worker(tmp_path).attempt(SPEC)
    assert answer["status"] == "failed"
    assert "cannot make the lock file" in answer["error"]
