"""``regretless decide``: a file at once; with deadlines or a log, every instance is a request of its own."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from torch import Tensor

from regretless.cli.output_check import refuse_overwriting, refuse_unwritable
from regretless.cli.show import print_json, print_ledger
from regretless.cli.spec_options import Executor, Json, Unseen, Workers
from regretless.deciding import Decider
from regretless.deciding.decision_log import DecisionLog
from regretless.deciding.decision_record import Record
from regretless.deciding.logged_decisions import LogRequest, decide_and_log, log_files
from regretless.errors import InputError
from regretless.listing import listed
from regretless.progress import Lines
from regretless.runs.decide import LoadedRun, decider
from regretless.runs.decision_files import check_decision_file, write_decisions
from regretless.runs.known_files import known_for
from regretless.runs.run_folder import read_two_stage
from regretless.runs.run_ledger import Ledger, solve_ledger
from regretless.solvers.executors import checked_workers, parse_executor
from regretless.tables import Features
from regretless.tables.constraints import read_constraints
from regretless.types import Decisions, Status


def decide(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    features: Annotated[Path, typer.Option(help="Features of the new instances (.csv, .xlsx, .parquet, .npz).")],
    out: Annotated[
        Path | None, typer.Option(help="File to write (.csv, .parquet, .npz); needed without --log.")
    ] = None,
    constraints: Annotated[
        Path | None, typer.Option(help="Right-hand sides, bounds or known costs per instance (.csv, .xlsx, .parquet).")
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="Another .mps or .lp file with the same cost variables, in place of the run's model. For model files."
        ),
    ] = None,
    log: Annotated[Path | None, typer.Option(help="Log of decisions to append to (SQLite), for an audit.")] = None,
    deadline: Annotated[
        float | None,
        typer.Option(help="Seconds per instance; if the engine is late, the best known decision. For model files."),
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Engine. Default: that of the run. For model files.")] = None,
    unseen: Unseen = None,
    workers: Workers = None,
    executor: Executor = "threads",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds per solve. Default: that of the run. For model files.")
    ] = None,
    gap: Annotated[
        float | None,
        typer.Option(help="Relative gap at which a solve may end. Default: that of the run. For model files."),
    ] = None,
    json: Json = False,
) -> None:
    """Predict costs for new instances, solve them exactly, and write the decisions by variable name.

    With --log every decision is also appended to a log, which "regretless audit" later compares with the true costs.
    """
    if out is None and log is None:
        raise InputError("give --out, a file for the decisions, or --log, a log to append them to")
    if deadline is not None and not deadline > 0:
        raise InputError(f"--deadline must be positive seconds, got {deadline}")
    if deadline is not None and time_limit is not None:
        raise InputError("--deadline is the time limit of a decision: leave --time-limit out")
    parse_executor(executor)
    if (log is not None or deadline is not None) and executor != "threads":
        raise InputError("--executor is for decisions without --log and --deadline, which are made in threads")
    for option, path in (("--out", out), ("--log", log)):
        if path is not None:
            refuse_overwriting(path, features, constraints, model)
            refuse_unwritable(path, folder=False, option=option)
    refuse_overwriting(out, log)
    if out is not None:
        check_decision_file(out)
    one_by_one = log is not None or deadline is not None
    ready = decider(
        run, engine=engine, workers=workers, executor=executor, time_limit=time_limit, gap=gap, model=model,
        family=constraints is not None and not one_by_one, unseen=unseen,
    )  # fmt: skip
    if constraints is None and model is None and ready.needs_constraints:
        print(
            "note: the run was trained with constraints per instance: without --constraints all decisions are for the "
            "model as it is written",
            file=sys.stderr,
        )
    if one_by_one:
        made = decide_one_by_one(
            run, ready, features, constraints, log=log, deadline=deadline, workers=workers, time_limit=time_limit,
            show=not json,
        )  # fmt: skip
    else:
        seen, ids = ready.read(features, constraints)
        predicted, decisions = ready.decide(seen, ids, progress=False if json else None)
        made = Made(predicted, decisions, seen.instance, solve_ledger(ready.problem))
    if out is not None:
        write_decisions(
            out,
            made.predicted,
            made.decisions,
            cost_names=ready.cost_names,
            variable_names=ready.variable_names,
            instance=made.instance,
            found=made.found,
        )
    _tell(made, out, log, json)


def _tell(made: Made, out: Path | None, log: Path | None, json: bool) -> None:
    """Say what was done; instances without a feasible decision are an error."""
    status, count = made.decisions.status, len(made.predicted)
    counts = {str(one): status.count(one) for one in dict.fromkeys(status)}
    empty, what = made.decisions.decision.isnan().any(dim=1).tolist(), "no decision; their cells are empty"
    if made.found is not None:
        empty = [word == "infeasible" for word in made.found]
        what = "no feasible decision; theirs violates the model least"
    names = made.instance or tuple(str(i) for i in range(count))
    those = [name for name, one in zip(names, empty, strict=True) if one]
    without = len(those)
    if json:
        said: dict[str, Any] = {"out": None if out is None else str(out), "instances": count}
        said |= {"without_decision": without, "status": counts, "ledger": made.ledger}
        if made.found is not None:
            said |= {"found": {word: made.found.count(word) for word in dict.fromkeys(made.found)}}
            said |= {"log": None if log is None else str(log), "new_in_log": made.new}
        print_json(said)
    else:
        ended = ", ".join(f"{count} {status}" for status, count in counts.items())
        where = "" if out is None else f" written to {out}"
        logged = "" if log is None else f"{',' if where else ''} logged in {log} ({made.new} new)"
        print(f"{count} instances ({ended}){where}{logged}")
        print_ledger(made.ledger)
    if without:
        print(f"error: {without} of {count} instances ({listed(those)}) have {what}", file=sys.stderr)
        raise typer.Exit(1)


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
