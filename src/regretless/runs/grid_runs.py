"""Do the runs of a grid that are not done yet."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from regretless.downloads.fetch import check_files
from regretless.number_checks import check_integer
from regretless.runs.grid_progress import GridProgress
from regretless.runs.results import GRID, register
from regretless.runs.run_folder import METRICS, refuse_foreign, run_path
from regretless.runs.spec import Spec
from regretless.runs.spec_check import check_spec
from regretless.runs.worker_pool import do_runs
from regretless.solvers import ray_cluster
from regretless.solvers.executors import parse_executor


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
