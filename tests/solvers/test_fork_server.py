from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

OWN_PROCESS = """
import multiprocessing, os, signal, time
from regretless.solvers.processes import Processes

def solve(job, clock):
    return job

def wait():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    except KeyboardInterrupt:
        os._exit(7)

if __name__ == "__main__":
    assert Processes(solve, workers=1, limit=None).map([1, 2]) == [1, 2]
    own = multiprocessing.get_context("forkserver").Process(target=wait)
    own.start()
    own.join()
    print(own.exitcode)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process forks from another one")
def test_other_processes_of_the_program_can_be_interrupted(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN_PROCESS)
    ended = subprocess.run([sys.executable, "own.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (ended.stdout, ended.stderr) == ("7\n", "")
