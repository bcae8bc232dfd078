"""The runs of the benchmark: every method at its best, each setting chosen by folds of the training data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from regretless.errors import InputError
from regretless.optional import need
from regretless.runs.grid_runs import do_missing_runs
from regretless.runs.results import read_results, write_results
from regretless.runs.spec import Spec
from regretless.suite.cells import Cell
from regretless.suite.leaderboard import Leaderboard, make_leaderboard, write_leaderboard
from regretless.training import methods as table

# By default: the baseline, one method of every kind in its cached form, and the search over several of them.
METHODS = (
    "two-stage", "spo-cache", "map-dc", "nce-dc", "soft", "pfy-cache", "nid-cache", "pg-cache", "lava",
    "blackbox-cache", "listwise", "auto",
)  # fmt: skip
WRITES = ("results.csv", *(f"leaderboard.{suffix}" for suffix in ("md", "csv", "json", "svg", "png")))
STARTS = ("two-stage", "random")


def plan_suite(
    cells: Sequence[Cell], *, methods: Sequence[str] | None = None, seeds: int = 3, start: str = "two-stage"
) -> list[Spec]:
    """List the runs of the benchmark.

    A method is a search among its own settings (learning rate, epochs, temperature) that keeps the best one by folds of
    the training data, with the budget of exact solves of ``auto``. Two-stage is the closed form. All methods
    have the same linear model, ``auto`` as well.

    Args:
        cells: of the grid.
        methods: names in the table of methods.
        seeds: of the data and of training, from 0 on.
        start: ``"two-stage"`` or ``"random"`` initial weights of all decision-focused methods.
    """
    chosen = list(METHODS if methods is None else methods)
    if not chosen or seeds < 1:
        raise InputError(f"the suite needs at least one method and one seed, got {chosen} and {seeds}")
    if start not in STARTS:
        raise InputError(f"start must be one of {', '.join(STARTS)}, got {start!r}")
    for name in chosen:
        if table.method(name).search is not None:
            raise InputError(f"the suite compares methods that have a loss, and {name!r} has none")
    return [_spec(cell, name, seed, start) for cell in cells for name in chosen for seed in range(seeds)]


def _spec(cell: Cell, method: str, seed: int, start: str) -> Spec:
    common: dict[str, Any] = {"seed": seed, "options": cell.load_options(seed), "watch": False}
    if method == "two-stage":
        return Spec(cell.problem, "two-stage", settings={"fit": "best"}, **common)
    common |= {"epochs": 0, "start": "" if start == "two-stage" else start}
    linear = {"terms": "none"}  # all methods have the same model
    if method == "auto":
        return Spec(cell.problem, "auto", settings=linear, **common)
    single = {"methods": [method], "committee": 1, "fallback": False} | linear
    return Spec(cell.problem, "auto", settings=single, **common)


def run_suite(
    specs: Sequence[Spec],
    out: Path | str,
    *,
    workers: int = 2,
    executor: str = "processes",
    stream: TextIO | None = sys.stderr,
) -> Leaderboard:
    """Do the runs that are not done yet, and write the leaderboard of all runs in the folder.

    Arguments and errors are those of ``do_missing_runs``.
    """
    need("matplotlib", pip="matplotlib", why="draw the figures")
    do_missing_runs("suite", specs, out, workers=workers, executor=executor, stream=stream, writes=WRITES)
    found = read_results(out)
    write_results(found, Path(out) / "results.csv")
    board = make_leaderboard(found)
    write_leaderboard(board, out)
    return board
