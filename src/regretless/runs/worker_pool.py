"""A pool of workers that does a list of runs: processes of this machine, or Ray actors."""

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
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from regretless.errors import FileError
from regretless.number_checks import check_integer
from regretless.runs.ray_runs import RayRuns
from regretless.runs.run_folder import FAILURE, METRICS, keep_failure, run_path
from regretless.runs.run_lock import try_lock
from regretless.runs.spec import Spec
from regretless.solvers.executors import parse_executor
from regretless.training.interrupt import catch_signals, restore_signals

STOP_SECONDS = 60.0  # for a worker to end before it is killed
RETRY_SECONDS = 0.5  # until a run of another process is tried again
MOST_LOSSES = 3  # of workers, by one run on Ray
Answer = dict[str, Any]
Report = Callable[[Spec | None, Answer], None]


class RunWorker(Protocol):
    """Does one run after another, wherever that is."""

    @property
    def alive(self) -> bool:
        """Whether it can do another run."""

    def ready(self) -> bool:
        """Whether it has started; waits a second at most."""

    def do(self, spec: Spec) -> Answer:
        """Do one run and wait for its answer.

        Returns:
            ``status``: ``done``, ``failed`` (with ``error``), ``busy`` (another process does it) or ``lost`` (the
            worker has ended and the run can be done again); and ``seconds``.
        """

    def stop(self) -> None:
        """Stop the current run."""

    def close(self) -> None:
        """End after the last run."""


class WorkerProcess:
    """The parent's side of one worker process."""

    def __init__(self, results: Path) -> None:
        # Its own session, or group on Windows: Ctrl-C reaches the parent only, which then stops every worker once.
        self.process = subprocess.Popen(
            [sys.executable, "-m", "regretless.runs.worker", str(results)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    def ready(self) -> bool:
        """A process takes its first run while it starts."""
        return True

    def do(self, spec: Spec) -> Answer:
        """Do one run and wait for its answer; a process that ends without one is a crash of its run."""
        assert self.process.stdout is not None
        self._send(json.dumps(spec.as_dict()))
        line = self.process.stdout.readline()
        if line:
            return dict(json.loads(line))
        code = self.process.wait()
        how = f"was ended by signal {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        return {"status": "failed", "error": f"the worker process {how}", "seconds": 0.0}

    def stop(self) -> None:
        """Stop training at the next step, with a checkpoint."""
        # Windows ends a process that is terminated at once; Ctrl-Break is a signal that it can catch.
        gentle = getattr(signal, "CTRL_BREAK_EVENT", signal.SIGTERM)
        try:
            self.process.send_signal(gentle)
        except OSError:  # it has ended, or Windows has no console that could send a signal
            with contextlib.suppress(OSError):
                self.process.terminate()

    def close(self) -> None:
        """End the process after its last run."""
        self._send("")
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]

    def _send(self, line: str) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # the process has ended: do() reports that
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()


class WorkerPool:
    """Threads, each with one worker, that take runs from one list."""

    def __init__(self, specs: Sequence[Spec], results: Path, make: Callable[[], RunWorker]) -> None:
        self.make, self.results, self.waiting = make, results, list(specs)
        self.answers: queue.Queue[tuple[Spec, Answer]] = queue.Queue()
        self.workers: dict[int, RunWorker] = {}
        self.losses: Counter[str] = Counter()
        self.problems: dict[int, str] = {}
        self.stopping = False
        self.lock = threading.Lock()

    def serve(self, place: int) -> None:
        """Do runs with the worker of one place until none waits."""
        while self.waiting and not self.stopping:
            worker = self.workers.get(place)
            if worker is None or not worker.alive:
                if worker is not None:
                    worker.close()
                worker = self.workers[place] = self.make()
            if not worker.ready() or (spec := self._take(place)) is None:
                continue
            answer = self.attempt(worker, spec)
            if answer["status"] in ("busy", "lost") and not self.stopping:
                # Busy: another process does it. Later it is done, or free again because that process has ended.
                time.sleep(RETRY_SECONDS)
                with self.lock:
                    self.waiting.append(spec)
                continue
            if not self.stopping:
                self.answers.put((spec, answer))
        if place in self.workers:
            self.workers[place].close()

    def attempt(self, worker: RunWorker, spec: Spec) -> Answer:
        """Do a run that no other process does or has done; a failure is kept, so that the rest can continue."""
        folder = run_path(self.results, spec)
        with try_lock(self.results / ".locks" / spec.digest) as held:
            if not held:
                return {"status": "busy", "seconds": 0.0}
            if (folder / METRICS).exists():
                return {"status": "done", "seconds": 0.0}
            answer = worker.do(spec)
            if answer["status"] == "lost":
                self.losses[spec.digest] += 1
                if self.losses[spec.digest] >= MOST_LOSSES:
                    answer |= {"status": "failed", "error": f"the run lost {MOST_LOSSES} workers"}
            if answer["status"] == "failed" and not self.stopping:
                with contextlib.suppress(FileError):  # on a full disk; the answer says what went wrong
                    keep_failure(folder, spec, answer["error"])
            if answer["status"] == "done":
                (folder / FAILURE).unlink(missing_ok=True)
            return answer

    def stop(self) -> None:
        """Stop every worker at its next step, with a checkpoint."""
        self.stopping = True
        for worker in list(self.workers.values()):
            worker.stop()

    def _take(self, place: int) -> Spec | None:
        """The next run: of the problem that this worker has loaded if there is one, else of one that no other has."""
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


def do_runs(
    specs: Sequence[Spec], results: Path | str, *, workers: int = 2, executor: str = "processes", report: Report
) -> None:
    """Do runs with several workers; a failed run is recorded and the rest continues.

    A run whose process ends is a failed one. A run that loses its Ray worker is done again, three times at most: nodes
    of a cluster come and go. ``report`` is called after every run with its answer, and every second with ``None``; on
    Ray an answer also has the number of ``nodes`` at work. The other arguments are those of ``do_missing_runs``.

    Raises:
        InputError: a setting that cannot be used, or no cluster answers.
        KeyboardInterrupt: SIGINT, SIGTERM or SIGHUP came; every worker has ended, and processes have kept their epochs.
    """
    check_integer("workers", workers, least=1)
    kind, address = parse_executor(executor, allowed=("processes", "ray"))
    make: Callable[[], RunWorker] = partial(WorkerProcess, Path(results))
    cluster: RayRuns | None = None
    if kind == "ray" and specs:
        cluster = RayRuns(specs, Path(results), workers=workers, address=address)
        make = cluster.worker
    pool = WorkerPool(specs, Path(results), make)
    with _termination_as_interrupt(), ThreadPoolExecutor(workers) as threads:
        try:
            places = [threads.submit(pool.serve, place) for place in range(min(workers, len(specs)))]
            left = len(specs)
            while left and not (all(place.done() for place in places) and pool.answers.empty()):
                try:
                    spec, answer = pool.answers.get(timeout=1.0)
                except queue.Empty:
                    report(None, {} if cluster is None else {"nodes": cluster.count})
                    continue
                left -= 1
                report(spec, answer)
            for place in places:
                place.result()  # raises what went wrong in its thread
        except BaseException:
            pool.stop()
            raise


@contextlib.contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP inside the block as Ctrl-C; signals can be caught in the main thread only.

    SIGINT is caught as well: some solvers leave it at the system's default, which would end the process at once.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt(signal.Signals(number).name)

    before = catch_signals(interrupt)
    try:
        yield
    finally:
        restore_signals(before)
