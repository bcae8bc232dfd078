from __future__ import annotations

import json
from pathlib import Path

from regretless.runs import Spec
from regretless.runs.run_folder import run_path
from regretless.runs.run_lock import hold
from regretless.runs.worker import Worker
from tests import forked

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
