from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from regretless.runs import Spec
from regretless.runs.run_folder import run_path
from regretless.runs.run_lock import hold
from regretless.runs.worker import Worker

SPEC = Spec("synthetic-knapsack-60", "spo", epochs=1, options={"days": 20})


def test_a_run_is_done_once_and_its_problem_loaded_once(tmp_path: Path) -> None:
    worker = Worker(tmp_path)
    assert worker.do(SPEC)["status"] == "done"
    written = (run_path(tmp_path, SPEC) / "metrics.json").stat().st_mtime_ns
    assert worker.do(SPEC)["status"] == "done"
    assert (run_path(tmp_path, SPEC) / "metrics.json").stat().st_mtime_ns == written
    worker.do(Spec("synthetic-knapsack-60", "nce-c", epochs=1, options={"days": 20}))
    assert len(worker.loaded) == 1


def test_a_run_whose_folder_another_process_still_holds_is_busy_and_has_not_failed(tmp_path: Path) -> None:
    with hold(run_path(tmp_path, SPEC)):
        assert Worker(tmp_path).do(SPEC)["status"] == "busy"


# test_worker_pool.py has the process that is left alone.
def test_the_process_answers_line_by_line_and_ends_when_told(tmp_path: Path) -> None:
    start = [sys.executable, "-m", "regretless.runs.worker", str(tmp_path)]
    told = subprocess.run(start, input=json.dumps(SPEC.as_dict()) + "\n\n", capture_output=True, text=True, check=False)
    assert (told.returncode, json.loads(told.stdout)["status"]) == (0, "done")
