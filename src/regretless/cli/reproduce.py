"""``regretless reproduce``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from regretless.cli.output_check import need_report_packages, refuse_unwritable
from regretless.cli.show import print_json, print_ledger
from regretless.cli.spec_options import Init, Json, RunExecutor, RunWorkers, comma_list
from regretless.paper.reproduce import Outcome, plan, reproduce_runs
from regretless.paper.table_text import layout
from regretless.report import write
from regretless.solvers.executors import checked_workers


def reproduce(
    group: Annotated[
        str,
        typer.Argument(
            help="knapsack, energy, matching, all, gaps (beyond the paper) or smoke (embedded data, quick)."
        ),
    ],
    methods: Annotated[str | None, typer.Option(help="Only these methods, separated by commas.")] = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds (0, 1, ...) per method.")] = 10,
    workers: RunWorkers = None,
    executor: RunExecutor = "processes",
    init: Init = "random",
    engine: Annotated[
        str,
        typer.Option(help="oracle (the problem's own), or an engine such as highs: a few epochs, to measure times."),
    ] = "oracle",
    epochs: Annotated[int | None, typer.Option(help="Passes over the data. Default: those of the paper.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of results; finished runs in it are not repeated.")] = Path(
        "results"
    ),
    json: Json = False,
) -> None:
    """Run all experiments behind the paper's tables and figures, and compare with the published values.

    After an interruption of any kind, the same command continues from the last epoch.
    """
    specs = plan(group, methods=comma_list(methods), seeds=seeds, init=init, engine=engine, epochs=epochs)
    need_report_packages()
    refuse_unwritable(out)
    outcome = reproduce_runs(
        group, specs, out, workers=checked_workers(workers), executor=executor, stream=None if json else sys.stderr
    )
    page = write(out, out / "report.html")
    if json:
        print_json(_summary(outcome, out, page))
    else:
        _print(outcome, out, page)
    if outcome.failed:
        raise typer.Exit(1)


def _print(outcome: Outcome, out: Path, page: Path) -> None:
    for table in outcome.tables:
        rows = [row for row in table.rows if "ratio" in row or (row["metric"] == "regret" and row["seeds"])]
        if rows:
            print(f"{table.about['title']}\n{_aligned(layout(rows))}\n")
    for result in outcome.failed:
        print(f"failed: {result.spec.problem}, {result.spec.method}, seed {result.spec.seed}: {result.error}")
    outside = sum(len(table.outside) for table in outcome.tables)
    print(f"* outside the tolerance: {outside} cells. {len(outcome.results)} runs, tables and figures in {out}")
    print_ledger(outcome.ledger)
    print(f"report: {page}")


def _aligned(cells: list[list[str]]) -> str:
    """Align columns: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in cells
    )


def _summary(outcome: Outcome, out: Path, page: Path) -> dict[str, Any]:
    return {
        "results": str(out / "results.csv"),
        "report": str(page),
        "runs": len(outcome.results),
        "failed": [result.row() for result in outcome.failed],
        "tables": {table.about["name"]: table.rows for table in outcome.tables},
        "figures": outcome.figures,
        "ledger": outcome.ledger,
    }
