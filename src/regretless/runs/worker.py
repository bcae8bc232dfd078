"""A worker process: reads runs, one JSON line each, does them, and answers each with one JSON line.

A process of its own rather than a pool of Python's: a solver that crashes takes one run with it and not the grid, a
script needs no ``if __name__ == "__main__"``, and a worker whose parent dies ends by itself at the end of its input.
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
from regretless.runs.run import load_problem, record_failure, run, single_threaded
from regretless.runs.run_lock import claim
from regretless.runs.spec import Spec


class Worker:
    """Does runs in one folder of results, loading each problem once."""

    def __init__(self, results: Path | str) -> None:
        self.results = Path(results)
        self.loaded: dict[str, BenchmarkProblem] = {}

    def attempt(self, spec: Spec) -> dict[str, Any]:
        """Do one run, whatever comes of it.

        Returns:
            ``status``: ``done``, ``failed`` (with ``error``) or ``busy`` (another process has it); and ``seconds``.
        """
        start = time.monotonic()
        folder = run_folder(self.results, spec)
        with claim(self.results / ".locks" / spec.digest) as mine:
            if not mine:
                return {"status": "busy", "seconds": 0.0}
            try:
                run(spec, folder, loaded=self._load(spec), progress=False)
                (folder / "failure.json").unlink(missing_ok=True)
                return {"status": "done", "seconds": time.monotonic() - start}
            except Exception as error:  # the rest of the grid goes on
                failure = record_failure(folder, spec, error)
                return failure | {"seconds": time.monotonic() - start}

    def _load(self, spec: Spec) -> BenchmarkProblem:
        key = json.dumps([spec.problem, spec.options], sort_keys=True)
        if key not in self.loaded:
            self.loaded[key] = load_problem(spec, store=self.results / "labels")
        return self.loaded[key]


def run_folder(results: Path | str, spec: Spec) -> Path:
    """Folder of a run."""
    return Path(results) / "runs" / spec.digest


def main() -> None:
    """Serve the process that started this one, until it says no more or is gone."""
    answers = _own_output()
    single_threaded()
    work: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin, work), daemon=True).start()
    worker = Worker(sys.argv[1])
    try:
        while line := work.get():
            answer = worker.attempt(Spec.from_dict(json.loads(line)))
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
    except KeyboardInterrupt:  # training kept its checkpoint
        sys.exit(130)


def _own_output() -> TextIO:
    """Keep standard output for answers; whatever solvers print goes to standard error."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "w", encoding="utf-8")


def _listen(source: TextIO, work: queue.Queue[str]) -> None:
    for line in source:
        work.put(line.strip())
        if not line.strip():  # an empty line is the end of work
            return
    os._exit(1)  # the parent is gone: the run goes on from its last epoch when somebody starts it again


if __name__ == "__main__":
    main()
