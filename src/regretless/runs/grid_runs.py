"""Do the runs of a grid that are not done yet, and say how long the rest will take."""

from __future__ import annotations

import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from regretless.downloads.fetch import check_files
from regretless.number_checks import check_integer
from regretless.progress import LINE_SECONDS, Bar, duration
from regretless.runs.results import GRID, register
from regretless.runs.run_folder import METRICS, refuse_foreign, run_path
from regretless.runs.spec import Spec
from regretless.runs.spec_check import check_spec
from regretless.runs.worker_pool import do_runs
from regretless.solvers import ray_cluster
from regretless.solvers.executors import parse_executor


class GridProgress:
    """A bar on a terminal, a line every half minute elsewhere.

    Runs of one kind take about the same time, and kinds differ by factors of hundreds. The time left is therefore the
    sum over the runs left of the mean time of their kind, or of all kinds for a kind without a finished run.
    Of all runs, ``specs`` are to be done and ``skipped`` were done before. Without a ``stream`` nothing is written.
    """

    def __init__(
        self,
        label: str,
        specs: Sequence[Spec],
        *,
        skipped: int = 0,
        workers: int = 1,
        stream: TextIO | None = sys.stderr,
    ) -> None:
        self.label, self.workers, self.stream = label, workers, stream
        self.left: dict[str, int] = defaultdict(int)
        for spec in specs:
            self.left[_kind(spec)] += 1
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.total, self.done, self.failed = len(specs) + skipped, skipped, 0
        self.nodes: int | None = None  # of a Ray cluster
        self.shown = time.monotonic()
        self.bar = None if stream is None else Bar(label, self.total, stream)

    def report(self, spec: Spec | None, answer: dict[str, Any]) -> None:
        """Count a run that ended (``None``: none has) and show the state."""
        self.nodes = answer.get("nodes", self.nodes)
        if spec is not None:
            self.left[_kind(spec)] -= 1
            self.done += 1
            self.seconds[_kind(spec)].append(float(answer["seconds"]))
            if answer["status"] == "failed":
                self.failed += 1
                if self.bar is not None:
                    self.bar.say(f"failed: {spec.problem}, {spec.method}, seed {spec.seed}: {answer['error']}")
        if self.stream is None or self.bar is None:
            return
        if self.stream.isatty():
            self.bar.update(self.done, self.note())
        elif time.monotonic() - self.shown >= LINE_SECONDS:
            self.shown = time.monotonic()
            self.bar.say(f"{self.label}: {self.done}/{self.total} {self.note()}")

    def seconds_left(self) -> float | None:
        """Estimate; ``None`` before the first run has ended."""
        known = [value for values in self.seconds.values() for value in values]
        if not known:
            return None
        mean = statistics.fmean(known)
        work = sum(
            n * (statistics.fmean(s) if (s := self.seconds.get(kind)) else mean) for kind, n in self.left.items()
        )
        return work / self.workers

    def note(self) -> str:
        """What stands behind the count of runs."""
        left = self.seconds_left()
        failed = f", {self.failed} failed" if self.failed else ""
        where = "" if self.nodes is None else f" on {self.nodes} node{'' if self.nodes == 1 else 's'}"
        return f"runs{where}{failed}" + ("" if left is None else f", {duration(left)} left")

    def close(self) -> None:
        """End the bar."""
        if self.bar is not None:
            self.bar.close()


def _kind(spec: Spec) -> str:
    return f"{spec.problem} {spec.method} {spec.p_solve} {spec.epochs}"


def do_missing_runs(
    label: str,
    specs: Sequence[Spec],
    out: Path | str,
    *,
    workers: int = 2,
    executor: str = "processes",
    stream: TextIO | None = sys.stderr,
    writes: Sequence[str] = (),
) -> None:
    """Do the runs that are not done yet.

    Args:
        label: for the progress line.
        specs: the runs.
        out: folder of results, with one folder under ``runs`` for each run.
        workers: processes, or Ray tasks at a time.
        executor: ``"processes"`` of this machine, ``"ray"``, or ``"ray:ADDRESS"``.
        stream: where progress goes; ``None`` shows none.
        writes: files and folders in ``out`` that the caller writes after the runs.

    Raises:
        InputError, MissingDependencyError, FileError: a setting, a package, a public data file, a cluster that does
            not answer, or files of the user's own that would be overwritten; nothing was solved or written.
        KeyboardInterrupt: SIGINT, SIGTERM or SIGHUP came; the message says how to continue.
    """
    out = Path(out)
    refuse_foreign(out, what="grid of runs", mark=GRID, names=writes)
    check_integer("workers", workers, least=1)
    kind, address = parse_executor(executor, allowed=("processes", "ray"))
    # Seeds cannot be wrong here (Spec checked them), and a check takes up to 0.1 s: one seed of each setting.
    for spec in {replace(spec, seed=0).digest: spec for spec in specs}.values():
        check_spec(spec)
    left = [spec for spec in specs if not (run_path(out, spec) / METRICS).exists()]
    for problem in dict.fromkeys(spec.problem for spec in left):
        check_files(problem)  # of this machine: also for Ray, problems are loaded here
    if kind == "ray" and left:
        ray_cluster.connect(address, cpus=workers)
    register(out, specs)
    progress = GridProgress(label, left, skipped=len(specs) - len(left), workers=workers, stream=stream)
    try:
        do_runs(left, out, workers=workers, executor=executor, report=progress.report)
    except KeyboardInterrupt:
        # A run on Ray works in a temporary folder of its node.
        kept = "them and the epochs of those that had begun" if kind == "processes" else "them"
        raise KeyboardInterrupt(
            f"stopped with {progress.done} of {progress.total} runs done; {out} keeps {kept}: run the same command "
            f"again to continue"
        ) from None
    finally:
        progress.close()
