"""The part of ``regretless decide`` that has deadlines or a log: every instance is a request of its own."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from regretless.deciding import Decider
from regretless.deciding.decision_log import DecisionLog
from regretless.deciding.decision_record import Record
from regretless.deciding.logged_decisions import LogRequest, decide_and_log, log_files
from regretless.errors import InputError
from regretless.progress import Lines
from regretless.runs.decide import LoadedRun
from regretless.runs.known_files import known_for
from regretless.runs.run_folder import read_two_stage
from regretless.runs.run_ledger import Ledger
from regretless.solvers.executors import checked_workers
from regretless.tables import Features
from regretless.tables.constraints import read_constraints
from regretless.types import Decisions, Status


@dataclass(frozen=True, eq=False)
class Made:
    """Predicted costs, decisions, names of the instances, exact solves, how each was found, and how many were new."""

    predicted: Tensor
    decisions: Decisions
    instance: tuple[str, ...] | None
    ledger: Ledger
    found: list[str] | None = None
    new: int = 0


def decide_one_by_one(
    run: Path,
    ready: LoadedRun,
    features: Path,
    constraints: Path | None,
    *,
    log: Path | None,
    deadline: float | None,
    workers: int | None,
    time_limit: float | None,
    show: bool,
) -> Made:
    """Decide for every instance of a file; all files are read and checked first."""
    if ready.saved is None:
        raise InputError("--log and --deadline are for runs on model files")
    seen, _ = ready.read(features)
    if log is not None and seen.instance is None:
        raise InputError(
            f"{features} does not name its rows, so that an audit could not match their true costs: --log needs the "
            f"column or array {ready.saved.id!r}"
        )
    requests, workers = _requests(ready, seen, features, constraints), checked_workers(workers)
    service = Decider(ready, known=known_for(run, ready.saved.milp), workers=workers)
    service.time_limit = time_limit or service.time_limit
    counts, lines = [0, 0], Lines(len(requests))

    def report(done: int, new: int) -> None:
        counts[:] = done, new
        if not show or (log is None and not lines.left(done)) or not lines.due(done):
            return
        # After the commit: what was said to be logged is logged.
        what = "decided" if log is None else f"in {log}"
        print(f"{done} of {len(requests)} instances are {what}{lines.left(done)}", flush=True)

    with nullcontext() if log is None else DecisionLog(log) as opened:
        name = "" if opened is None else opened.add_run(log_files(service, run))
        try:
            baseline = None if log is None else read_two_stage(service.run.blank, run)
            records = decide_and_log(
                service, opened, name, requests, baseline=baseline,
                deadline=deadline, workers=workers, report=report,
            )  # fmt: skip
        except KeyboardInterrupt:
            if log is None:
                raise
            raise KeyboardInterrupt(
                f"interrupted: {log} keeps the decisions made so far, and the same command continues"
            ) from None
    made = service.solved
    return _joined(records, requests, {"decisions": {"solves": made.solves, "seconds": made.seconds}}, counts[1])


def _requests(ready: LoadedRun, seen: Features, features: Path, constraints: Path | None) -> list[LogRequest]:
    assert ready.saved is not None
    names = seen.instance or tuple(str(i) for i in range(len(seen.values)))
    rows: list[dict[str, float]] = [{}] * len(names)
    if constraints is not None:
        varied = read_constraints(ready.saved.table(constraints), ready.saved.milp, id=ready.saved.id)
        order = varied.order(seen.instance, len(names), names=(str(constraints), str(features)))
        rows = [dict(zip(varied.columns, varied.values[i].tolist(), strict=True)) for i in order]
    return [LogRequest(name, x, row) for name, x, row in zip(names, seen.values, rows, strict=True)]


def _joined(records: list[Record], requests: list[LogRequest], ledger: Ledger, new: int) -> Made:
    decision = torch.from_numpy(np.stack([record.decision for record in records]))
    gaps = [np.nan if record.gap is None else record.gap for record in records]
    decisions = Decisions(
        solution=decision,
        decision=decision,
        objective=torch.tensor([record.objective for record in records], dtype=torch.float64),
        status=[Status(record.status) for record in records],
        gap=torch.tensor(gaps, dtype=torch.float64),
        message={},
    )
    predicted = torch.from_numpy(np.stack([record.predicted for record in records]))
    # A decision that was logged before may have its name in another form there.
    names, found = tuple(request.instance for request in requests), [record.found for record in records]
    return Made(predicted, decisions, names, ledger, found, new)
