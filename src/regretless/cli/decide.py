"""``regretless decide``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.show import print_json, print_ledger
from regretless.cli.spec_options import Executor, Json, Unseen, Workers, checked_unseen
from regretless.cli.writable import refuse_unwritable
from regretless.runs.decide import decider
from regretless.runs.decision_files import check_decision_file, write_decisions
from regretless.runs.run_ledger import solve_ledger
from regretless.solvers.executors import parse_executor


def decide(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    features: Annotated[Path, typer.Option(help="Features of the new instances (.csv, .parquet, .npz).")],
    out: Annotated[Path, typer.Option(help="File to write (.csv, .parquet, .npz).")],
    constraints: Annotated[
        Path | None, typer.Option(help="Right-hand sides, bounds or known costs per instance (.csv, .parquet).")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="Another .mps or .lp file with the same cost variables, for model files.")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Another engine than in training, for model files.")] = None,
    unseen: Unseen = None,
    workers: Workers = 1,
    executor: Executor = "threads",
    time_limit: Annotated[float | None, typer.Option(help="Seconds per solve, for model files.")] = None,
    json: Json = False,
) -> None:
    """Predict costs for new instances, solve them exactly, and write the decisions by variable name."""
    check_decision_file(out)
    refuse_unwritable(out, folder=False)
    parse_executor(executor)
    ready = decider(
        run,
        engine=engine,
        workers=workers,
        executor=executor,
        time_limit=time_limit,
        model=model,
        family=constraints is not None,
        unseen=checked_unseen(unseen),
    )
    seen, ids = ready.read(features, constraints)
    predicted, decisions = ready.decide(seen, ids, progress=False if json else None)
    write_decisions(
        out,
        predicted,
        decisions,
        cost_names=ready.cost_names,
        variable_names=ready.variable_names,
        instance=seen.instance,
    )
    counts = {str(status): decisions.status.count(status) for status in dict.fromkeys(decisions.status)}
    ledger = solve_ledger(ready.problem)
    without = int(decisions.decision.isnan().any(dim=1).sum())
    if json:
        about = {"out": str(out), "instances": len(predicted), "without_decision": without, "status": counts}
        print_json(about | {"ledger": ledger})
    else:
        ended = ", ".join(f"{count} {status}" for status, count in counts.items())
        print(f"{len(predicted)} instances ({ended}) written to {out}")
        print_ledger(ledger)
    if without:
        print(
            f"error: {without} of {len(predicted)} instances have no decision; their cells are empty", file=sys.stderr
        )
        raise typer.Exit(1)
