"""``regretless suite``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.output_check import need_report_packages, refuse_unwritable
from regretless.cli.show import print_json
from regretless.cli.spec_options import Json, RunExecutor, RunWorkers, comma_list
from regretless.solvers.executors import checked_workers
from regretless.suite import cells_of, plan_suite, run_suite
from regretless.suite.leaderboard_text import leaderboard_markdown


def suite(
    grid: Annotated[str, typer.Option(help="short, or full (the field's standard sizes).")] = "short",
    problems: Annotated[str | None, typer.Option(help="Only these problems, separated by commas.")] = None,
    methods: Annotated[
        str | None, typer.Option(help="These methods in place of the default ones, separated by commas.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds (0, 1, ...), each with its own draw of the data.")] = 1,
    start: Annotated[str, typer.Option(help="Initial weights: two-stage, random, or both.")] = "two-stage",
    workers: RunWorkers = None,
    executor: RunExecutor = "processes",
    out: Annotated[Path, typer.Option(help="Folder of results; finished runs in it are not repeated.")] = Path("suite"),
    json: Json = False,
) -> None:
    """Compare methods on the field's problems, with all settings chosen by folds, and write a leaderboard.

    After an interruption of any kind, the same command continues.
    """
    cells = cells_of(grid, comma_list(problems))
    starts = ("two-stage", "random") if start == "both" else (start,)
    specs = [
        spec for one in starts for spec in plan_suite(cells, methods=comma_list(methods), seeds=seeds, start=one)
    ]  # fmt: skip
    specs = list({spec.digest: spec for spec in specs}.values())  # two-stage itself has one start
    need_report_packages()
    refuse_unwritable(out)
    board = run_suite(
        specs, out, workers=checked_workers(workers), executor=executor, stream=None if json else sys.stderr
    )
    if json:
        print_json(board.as_dict() | {"folder": str(out)})
    else:
        print(leaderboard_markdown(board.methods, board.cells, board.compared, None))
        for failed in board.failed:
            print(f"failed: {failed}")
        print(f"leaderboard: {out / 'leaderboard.md'}")
    if board.failed:
        raise typer.Exit(1)
