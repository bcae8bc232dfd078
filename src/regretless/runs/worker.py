"""A worker process: it reads runs, one JSON line each, does them, and answers each with one JSON line.

It is a process of its own and not one of Python's pool: a solver that crashes costs one run and not the grid, a script
needs no ``if __name__ == "__main__"``, and a worker whose parent was killed ends at the end of its input.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from regretless.problems import BenchmarkProblem
from regretless.progress import write_lines
from regretless.runs.run_folder import failure, run_path
from regretless.runs.run_lock import BusyError
from regretless.runs.spec import Spec
from regretless.runs.training_run import load_problem, run, single_threaded


class Worker:
    """Does runs in one folder of results and loads each problem once."""

    def __init__(self, results: Path | str) -> None:
        self.results = Path(results)
        self.loaded: dict[str, BenchmarkProblem] = {}

    def do(self, spec: Spec) -> dict[str, Any]:
        """Do one run.

        Returns:
            ``status``: ``done``, ``failed`` (with ``error``) or ``busy`` (a worker whose parent was killed has not
            ended yet); and ``seconds``.
        """
        start = time.monotonic()
        try:
            run(spec, run_path(self.results, spec), loaded=self._load(spec), progress=False)
            answer: dict[str, Any] = {"status": "done"}
        except BusyError:
            answer = {"status": "busy"}
        except Exception as error:  # the rest of the grid continues
            answer = failure(error)
        return answer | {"seconds": time.monotonic() - start}

    def _load(self, spec: Spec) -> BenchmarkProblem:
        key = spec.problem_key
        if key not in self.loaded:
            self.loaded[key] = load_problem(spec, store=self.results / "labels")
        return self.loaded[key]


def main() -> None:
    """Serve the process that started this one, until its input ends."""
    answers = _own_output()
    single_threaded()
    write_lines(False)  # the process that started this one does
    work: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin, work), daemon=True).start()
    worker = Worker(sys.argv[1])
    try:
        while line := work.get():
            answer = worker.do(Spec.from_dict(json.loads(line)))
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
    except KeyboardInterrupt:  # training has written its checkpoint
        sys.exit(130)


def _own_output() -> TextIO:
    """Reserve standard output for answers; what solvers print goes to standard error."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "w", encoding="utf-8")


def _listen(source: TextIO, work: queue.Queue[str]) -> None:
    for line in source:
        work.put(line.strip())
        if not line.strip():  # an empty line is the end of work
            return
    os._exit(1)  # the parent is gone: the next start of the grid continues the run from its last epoch


if __name__ == "__main__":
    main()
