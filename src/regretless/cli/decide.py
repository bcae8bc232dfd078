"""``regretless decide``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.cli.one_by_one import Made, decide_one_by_one
from regretless.cli.output_check import refuse_overwriting, refuse_unwritable
from regretless.cli.show import print_json, print_ledger
from regretless.cli.spec_options import Executor, Json, Unseen, Workers, checked_unseen
from regretless.errors import InputError
from regretless.listing import listed
from regretless.runs.decide import decider
from regretless.runs.decision_files import check_decision_file, write_decisions
from regretless.runs.run_ledger import solve_ledger
from regretless.solvers.executors import parse_executor


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
        family=constraints is not None and not one_by_one, unseen=checked_unseen(unseen),
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
