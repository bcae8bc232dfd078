from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.solvers import processes
from regretless.solvers.processes import Processes
from regretless.types import Status

# A child imports the function by name, so it stands in a module of its own.
MODULE = """
import os, time
import numpy as np

def solver(costs):
    if costs[0] == 13.0:
        raise RuntimeError("thirteen")
    if costs[0] == 14.0:
        os._exit(3)
    if costs[0] == 15.0:
        time.sleep(60.0)
    if costs[0] == 16.0:
        return [np.nan, 0.0, 0.0]
    return costs == costs.min()

def who(costs):
    return [os.getpid(), 0.0, 0.0]
"""


@pytest.fixture
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "solver_in_a_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import solver_in_a_module  # type: ignore[import-not-found]

    return solver_in_a_module


def rows(*first: float) -> torch.Tensor:
    return torch.tensor([[f, 5.0, 9.0] for f in first], dtype=torch.float64)


def test_everything_is_checked_as_with_threads_and_one_fault_costs_one_instance(functions: Any) -> None:
    costs = rows(1.0, 13.0, 7.0, 14.0, 16.0, 2.0)
    answers = {}
    for executor in ("threads", "processes"):
        safe = costs if executor == "processes" else rows(1.0, 13.0, 7.0, 13.0, 16.0, 2.0)
        problem = Problem(oracle=functions.solver, dimension=3, workers=2, executor=executor, on_failure="skip")
        answers[executor] = problem.attempt(safe)
    threads, processes = answers["threads"], answers["processes"]
    assert torch.equal(threads.solution.nan_to_num(-1.0), processes.solution.nan_to_num(-1.0))
    assert threads.statuses == processes.statuses
    assert processes.found.tolist() == [True, False, True, False, False, True]
    assert processes.message[1] == "RuntimeError: thirteen"
    assert processes.message[3] == "the process that solved it ended with exit code 3"
    assert "NaN or infinite" in processes.message[4]


def test_a_call_that_hangs_is_killed_after_its_limit(functions: Any) -> None:
    problem = Problem(oracle=functions.solver, dimension=3, executor="processes", time_limit=0.3, on_failure="skip")
    problem.attempt(rows(1.0))  # loads the process
    before = {child.pid for child in multiprocessing.active_children()}
    start = time.monotonic()
    solved = problem.attempt(rows(15.0, 2.0))
    assert solved.statuses == [Status.TIME_LIMIT, Status.OPTIMAL]
    assert solved.message[0] == "the solver function took longer than 0.3 s and was given up on"
    assert time.monotonic() - start < 30.0
    assert not before & {child.pid for child in multiprocessing.active_children()}


def test_processes_are_others_and_end_with_the_problem(functions: Any) -> None:
    problem = Problem(oracle=functions.who, dimension=3, workers=2, executor="processes")
    pids = {int(pid) for pid in problem.attempt(rows(*np.arange(8.0))).solution[:, 0]}
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= 2
    del problem
    gc.collect()
    deadline = time.monotonic() + 20.0
    while pids & {child.pid for child in multiprocessing.active_children()} and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not pids & {child.pid for child in multiprocessing.active_children()}


def test_a_function_that_cannot_be_pickled_is_refused_at_once_with_a_hint() -> None:
    with pytest.raises(
        InputError, match=r"a function at the top level of a module, not a lambda.*(pickle|local object)"
    ):
        Problem(oracle=lambda costs: costs, dimension=3, executor="processes")


def test_a_function_that_the_other_process_does_not_find_is_refused_with_a_hint(functions: Any, tmp_path: Path) -> None:
    problem = Problem(oracle=functions.solver, dimension=3, executor="processes")
    (tmp_path / "solver_in_a_module.py").unlink()
    with pytest.raises(InputError, match=r"another process can load.*ModuleNotFoundError"):
        problem.attempt(rows(1.0))


SCRIPT = """
import numpy as np
import regretless as rl

def solver(costs):
    return costs == costs.min()

def main():
    problem = rl.Problem(oracle=solver, dimension=3, executor="processes", on_failure="skip")
    print("solved", problem.solve(-np.eye(3)).objective.tolist(), flush=True)

"""


def run(folder: Path, end: str) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(SCRIPT + end)
    command = [sys.executable, str(folder / "script.py")]
    found = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=found)


@pytest.mark.slow
def test_a_script_without_the_guard_ends_with_a_hint_and_its_processes_solve_nothing(tmp_path: Path) -> None:
    ended = run(tmp_path, "main()\n")
    assert ended.returncode == 1
    assert ended.stdout == ""
    # The process from which others fork may write after the script has ended.
    assert (
        "\nregretless.errors.InputError: executor='processes' starts processes that import the script" in ended.stderr
    )
    assert "put all that the script does under if __name__ == '__main__':" in ended.stderr
    assert "bootstrapping" not in ended.stderr


@pytest.mark.slow
def test_a_script_with_the_guard_solves_once(tmp_path: Path) -> None:
    ended = run(tmp_path, "if __name__ == '__main__':\n    main()\n")
    assert (ended.returncode, ended.stdout) == (0, "solved [-1.0, -1.0, -1.0]\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process forks from another one")
def test_ctrl_c_does_not_end_the_process_that_others_fork_from_while_it_imports(tmp_path: Path) -> None:
    (tmp_path / "interrupting.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    preload = "    import regretless.solvers.processes as started\n    started.PRELOAD.insert(1, 'interrupting')\n"
    ended = run(tmp_path, f"if __name__ == '__main__':\n{preload}    main()\n")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "solved [-1.0, -1.0, -1.0]\n", "")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_a_solve_that_hangs_ends_with_the_process_that_waits_for_it(tmp_path: Path) -> None:
    begin = "    import os, time\n    print(os.getpid(), flush=True)\n    time.sleep(600)\n"
    (tmp_path / "script.py").write_text(
        SCRIPT.replace("def solver(costs):\n", f"def solver(costs):\n{begin}")
        + "if __name__ == '__main__':\n    main()\n"
    )
    found = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, str(tmp_path / "script.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=found) as script:
        assert script.stdout is not None
        solving = int(script.stdout.readline())
        script.kill()
        try:
            # The process that solves holds the other end of the pipe until it ends.
            assert select.select([script.stdout], [], [], 20.0)[0]
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(solving, signal.SIGKILL)


@pytest.mark.slow
def test_engines_run_in_processes_with_the_same_answers() -> None:
    milp = MILP([[3.0, 4.0, 5.0, 6.0]], row_upper=9.0)
    costs = torch.as_tensor(-np.random.default_rng(0).integers(1, 4, (12, 4)).astype(float))
    one = Problem(milp).attempt(costs)
    two = Problem(milp, workers=2, executor="processes").attempt(costs)
    assert torch.equal(one.solution, two.solution)
    with pytest.raises(InputError, match="HiGHS does not know the option sens"):
        Problem(milp, executor="processes", sens=1).attempt(costs[:1])


@pytest.mark.parametrize("sent", [[], [max], [max, 1]])
def test_a_process_ends_without_an_error_when_the_one_that_started_it_has_ended(
    sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes.signal, "signal", lambda *_: None)
    ours, theirs = multiprocessing.Pipe()
    for one in sent:
        ours.send(one)
    ours.close()
    processes._serve(theirs)


def test_work_must_be_picklable() -> None:
    with pytest.raises(InputError, match="executor='processes' needs"):
        Processes(lambda job, clock: job, workers=1, limit=None)
