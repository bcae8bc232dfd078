"""A crew of worker processes that does a list of runs."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from regretless.errors import InputError
from regretless.runs.run import record_failure
from regretless.runs.spec import Spec
from regretless.runs.worker import run_folder

PATIENCE = 60.0
RETRY = 0.5
Answer = dict[str, Any]
Report = Callable[[Spec | None, Answer], None]


class Member:
    """One worker process."""

    def __init__(self, results: Path) -> None:
        # Its own session: Ctrl-C reaches this process only, which then asks each worker once to stop.
        self.process = subprocess.Popen(
            [sys.executable, "-m", "regretless.runs.worker", str(results)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )

    def query(self, spec: Spec) -> Answer:
        """Have a run done; a process that dies is a failure of its run."""
        assert self.process.stdout is not None
        self._tell(json.dumps(spec.as_dict()))
        line = self.process.stdout.readline()
        if line:
            return dict(json.loads(line))
        code = self.process.wait()
        how = f"was ended by signal {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        return {"status": "crashed", "error": f"the worker process {how}", "seconds": 0.0}

    def stop(self) -> None:
        """Ask to stop at the next step."""
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()

    def leave(self) -> None:
        """Say that there is no more work, and wait for the end."""
        self._tell("")
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]

    def _tell(self, line: str) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # it died: ask() will say so
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()


class WorkerPool:
    """Threads that each lead one worker process through the runs that wait.

    Args:
        specs: the runs.
        results: folder of results.
    """

    def __init__(self, specs: Sequence[Spec], results: Path) -> None:
        self.results, self.waiting = results, list(specs)
        self.answers: queue.Queue[tuple[Spec, Answer]] = queue.Queue()
        self.members: dict[int, Member] = {}
        self.problems: dict[int, str] = {}
        self.stopping = False
        self.error: Exception | None = None
        self.lock = threading.Lock()

    def lead(self, place: int) -> None:
        """Take runs until none waits."""
        try:
            self._lead(place)
        except Exception as error:  # a thread has nobody to tell
            self.error = error

    def _lead(self, place: int) -> None:
        while (spec := self._take(place)) is not None:
            member = self.members.get(place)
            if member is None:
                member = self.members[place] = Member(self.results)
            answer = member.query(spec)
            if answer["status"] == "busy" and not self.stopping:
                # Another process has it. By its turn it is done, or free again because that process died.
                time.sleep(RETRY)
                with self.lock:
                    self.waiting.append(spec)
                continue
            if member.process.poll() is not None:
                self.members.pop(place).leave()
            if not self.stopping:
                self.answers.put((spec, answer))
        if place in self.members:
            self.members[place].leave()

    def stop(self) -> None:
        """Ask every worker to keep its run and end."""
        self.stopping = True
        for member in list(self.members.values()):
            member.stop()

    def _take(self, place: int) -> Spec | None:
        """The next run: of the problem this worker has loaded where there is one, else of one nobody is at."""
        with self.lock:
            if self.stopping or not self.waiting:
                return None
            own = self.problems.get(place)
            others = {problem for at, problem in self.problems.items() if at != place}
            position = min(
                range(len(self.waiting)),
                key=lambda i: (self.waiting[i].problem != own, self.waiting[i].problem in others, i),
            )
            spec = self.waiting.pop(position)
            self.problems[place] = spec.problem
            return spec


def do(specs: Sequence[Spec], results: Path | str, *, workers: int = 2, report: Report) -> None:
    """Do runs with ``workers`` processes; a failed run is recorded and the rest goes on.

    Args:
        specs: the runs.
        results: folder of results.
        workers: processes.
        report: called after every run with its answer, and every second with ``None``.

    Raises:
        KeyboardInterrupt: SIGINT or SIGTERM came; every worker was asked to keep its run and has ended.
    """
    if workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    crew = WorkerPool(specs, Path(results))
    leaders = [threading.Thread(target=crew.lead, args=(i,)) for i in range(min(workers, len(specs)))]
    with _termination_as_interrupt():
        try:
            for leader in leaders:
                leader.start()
            left = len(specs)
            while left and (any(leader.is_alive() for leader in leaders) or not crew.answers.empty()):
                try:
                    spec, answer = crew.answers.get(timeout=1.0)
                except queue.Empty:
                    report(None, {})
                    continue
                left -= 1
                if answer["status"] == "crashed":
                    answer |= record_failure(run_folder(results, spec), spec, RuntimeError(answer["error"]))
                report(spec, answer)
            if crew.error is not None:
                raise crew.error
        except BaseException:
            crew.stop()
            raise
        finally:
            for leader in leaders:
                if leader.ident is not None:
                    leader.join()


class _termination_as_interrupt(contextlib.AbstractContextManager[None]):  # noqa: N801 - reads as a phrase
    """SIGTERM inside the block is treated as Ctrl-C is; in other threads than the main one nothing can be done."""

    def __enter__(self) -> None:
        self.before = None
        if threading.current_thread() is threading.main_thread():
            self.before = signal.signal(signal.SIGTERM, self._raise)

    def __exit__(self, *error: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGTERM, self.before)

    @staticmethod
    def _raise(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt("terminated")
