"""Do all runs of a grid, and write their results, tables and figures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from regretless.errors import InputError
from regretless.optional import need
from regretless.paper import grid as grids
from regretless.paper.drawings import write_figures
from regretless.paper.result_tables import TableData, make_tables, write_tables
from regretless.runs.grid_runs import do_missing_runs
from regretless.runs.results import Result, read_results, write_results
from regretless.runs.run_ledger import Ledger, grid_ledger
from regretless.runs.spec import Spec

WRITES = ("results.csv", "tables", "figures", "report.html")  # into the folder of results, when the runs are done


@dataclass(frozen=True)
class Outcome:
    """What a folder of results holds.

    Attributes:
        results: all runs that belong to it.
        tables: made of them.
        figures: names of the figures drawn.
    """

    results: list[Result]
    tables: list[TableData]
    figures: list[str]

    @property
    def failed(self) -> list[Result]:
        """Runs that failed; the same command tries them again."""
        return [result for result in self.results if result.status == "failed"]

    @property
    def ledger(self) -> Ledger:
        """Exact solves of all runs, by purpose."""
        return grid_ledger((result.spec.problem_key, result.figures.get("ledger")) for result in self.results)


def plan(
    group: str,
    *,
    methods: Sequence[str] | None = None,
    seeds: int = 10,
    init: str = "random",
    engine: str = "oracle",
    epochs: int | None = None,
) -> list[Spec]:
    """List all runs of a group: see ``Grid.specs``. In ``all``, every grid does those of ``methods`` that it has."""
    loaded = [grids.load_grid(name) for name in grids.groups(group)]
    known = list(dict.fromkeys(name for grid in loaded for name in grid.methods))
    if methods is not None and (not methods or set(methods) - set(known)):
        wrong = next((name for name in methods if name not in known), None)
        raise InputError(f"methods of {group!r} are {', '.join(known)}; got {'none' if wrong is None else repr(wrong)}")
    specs = []
    for grid in loaded:
        chosen = None if methods is None else [name for name in methods if name in grid.methods]
        specs += grid.specs(methods=chosen, seeds=seeds, init=init, engine=engine, epochs=epochs)
    return specs


def reproduce_runs(
    label: str,
    specs: Sequence[Spec],
    out: Path | str,
    *,
    workers: int = 2,
    executor: str = "processes",
    stream: TextIO | None = sys.stderr,
) -> Outcome:
    """Do the runs that are not done yet, and write results, tables and figures of all runs in the folder.

    Arguments and errors are those of ``do_missing_runs``.
    """
    need("matplotlib", pip="matplotlib", why="draw the figures")
    do_missing_runs(label, specs, out, workers=workers, executor=executor, stream=stream, writes=WRITES)
    return write_outcome(out)


def write_outcome(out: Path | str) -> Outcome:
    """Write ``results.csv``, ``tables/`` and ``figures/`` from the runs in a folder."""
    out = Path(out)
    found = read_results(out)
    write_results(found, out / "results.csv")
    tables: list[TableData] = []
    figures: list[str] = []
    for name in (*grids.GROUPS, *(name for name in grids.names() if name not in grids.GROUPS)):
        grid = grids.load_grid(name)
        of_grid = [result for result in found if result.spec.problem in grid.problems]
        if of_grid:
            tables += make_tables(grid, of_grid)
            figures += write_figures(grid, of_grid, out / "figures")
    write_tables(tables, out / "tables")
    return Outcome(found, tables, figures)
