"""Processes that run jobs: for Python functions that hold the interpreter lock, and for solvers that crash or hang."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, Generic

from regretless.errors import InputError
from regretless.solvers.executors import Clock, Job, Result, Unanswered, Work
from regretless.solvers.threads import Threads
from regretless.types import Status

# A fork of a process with threads may deadlock, so children start from a clean process.
METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
# What the process imports from which others fork.
PRELOAD = ["__main__", __name__, "regretless.solvers.fork_server"]
STARTED, ANSWER, RAISED = "started", "answer", "raised"
HINT = (
    "executor='processes' needs a solver that another process can load: a function at the top level of a module, not "
    "a lambda, a nested function or a cell of a notebook"
)
GUARD = (
    "executor='processes' starts processes that import the script again: put all that the script does under "
    "if __name__ == '__main__': and leave only imports and definitions outside of it"
)


class Processes(Generic[Job, Result]):
    """Run jobs in processes, each driven by a thread of its own.

    A process that takes longer than ``limit`` seconds is killed, and one that ends by itself costs one job; another
    process takes its place. On Linux a clean process imports this library once and every process is a fork of it, so
    that only the first one waits for torch.

    Args:
        work: runs one job; it is pickled once and sent to every process.
        workers: processes.
        limit: seconds for one job, or ``None``.

    Raises:
        InputError: the work cannot be pickled, or, from ``map``, a process cannot be started because the script has no
            guard ``if __name__ == "__main__"``.
    """

    def __init__(self, work: Work[Job, Result], *, workers: int, limit: float | None) -> None:
        driver = _Driver(self.check(work), limit)
        self._threads: Threads[Job, Result | Unanswered] = Threads(driver, workers=workers, limit=None, inline=0.0)

    @staticmethod
    def check(work: Work[Any, Any]) -> bytes:
        """Pickle the work, or raise an ``InputError`` that says what can be pickled."""
        try:
            return pickle.dumps(work)
        except Exception as error:  # pickle raises whatever the object's own methods raise
            raise InputError(f"{HINT} ({type(error).__name__}: {error})") from error

    def map(self, jobs: Sequence[Job]) -> list[Result | Unanswered]:
        """Return one result per job, in order; see ``Executor``."""
        return self._threads.map(jobs)


class _Driver:
    """Sends jobs to the process of the current thread; it does not hold the executor, so that both can end."""

    def __init__(self, work: bytes, limit: float | None) -> None:
        self.work, self.limit, self.local = work, limit, threading.local()

    def __call__(self, job: Any, clock: Clock) -> Any:
        child: _Child | None = getattr(self.local, "child", None)
        if child is None:
            child = self.local.child = _Child(self.work)
        kind, answer = child.answer(job, self.limit)
        if kind == RAISED:
            raise answer
        if isinstance(answer, Unanswered):
            self.local.child = None
        return answer


class _Child:
    """One process and the connection to it."""

    def __init__(self, work: bytes) -> None:
        context: Any = multiprocessing.get_context(METHOD)
        if sys.platform == "linux":  # elsewhere torch does not survive a fork
            context.set_forkserver_preload(PRELOAD)
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), name="regretless-solver", daemon=True)
        try:
            with _interrupts_blocked():
                self.process.start()
        except RuntimeError:  # Python refuses it where a process that was started this way imports the script
            raise InputError(GUARD) from None
        except (EOFError, OSError) as error:
            raise InputError(f"{GUARD} (no process could be started: {type(error).__name__}: {error})") from error
        theirs.close()
        weakref.finalize(self, _end, self.process, self.connection, os.getpid())
        try:
            self.connection.send_bytes(work)
            problem = self.connection.recv()
        except (EOFError, OSError):
            raise InputError(f"{GUARD} (a process ended before it was ready; its own error is above)") from None
        if problem:
            raise InputError(f"{HINT} ({problem})")

    def answer(self, job: Any, limit: float | None) -> tuple[str, Any]:
        """Have one job done; a process that is late or has ended answers with ``Unanswered``."""
        try:
            self.connection.send(job)
            kind, answer = self.connection.recv()
            if kind == STARTED:
                if not self.connection.poll(limit):
                    _end(self.process, self.connection, os.getpid())
                    return ANSWER, Unanswered(Status.TIME_LIMIT, f"took longer than {limit:g} s and was given up on")
                kind, answer = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(timeout=1.0)
            said = f"the process that solved it ended with exit code {self.process.exitcode}"
            return ANSWER, Unanswered(Status.ERROR, said)
        return kind, answer


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in this thread, and so in a process that it starts.

    Ctrl-C in a terminal is sent to all processes. It would end the one that others fork from while it imports torch;
    ``fork_server`` unblocks it there.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # Python unblocks SIGINT after it has started this process
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection) -> None:
    """Run jobs until the connection closes (in the other process)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits for the answer
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):  # that process has ended
        try:
            run = connection.recv()
        except Exception as error:
            connection.send(f"{type(error).__name__}: {error}")
            return
        connection.send("")
        while True:
            job = connection.recv()
            try:
                connection.send((ANSWER, run(job, lambda: connection.send((STARTED, None)))))
            except Exception as error:
                connection.send((RAISED, error))


def _end_with_parent() -> None:
    """End this process when the one that waits for its answers was killed: a solve that hangs would never notice."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _end(process: Any, connection: Connection, owner: int) -> None:
    connection.close()
    if owner != os.getpid():  # a fork of the owner has a copy of this object, and no right to the process
        return
    process.kill()
    process.join(timeout=1.0)
