"""Do all runs of a grid, and make of them the results, tables and figures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from regretless.paper import grid as grids
from regretless.paper.figures import write_figures
from regretless.paper.result_tables import TableData, make_tables, write_tables
from regretless.runs.grid_progress import GridProgress
from regretless.runs.results import Result, read_results, register, write_results
from regretless.runs.spec import Spec
from regretless.runs.worker import run_folder
from regretless.runs.worker_pool import do


@dataclass(frozen=True)
class Outcome:
    """What stands in a folder of results.

    Attributes:
        results: all runs that belong to it.
        tables: the tables made of them.
        figures: names of the figures drawn.
    """

    results: list[Result]
    tables: list[TableData]
    figures: list[str]

    @property
    def failed(self) -> list[Result]:
        """Runs that failed; the same command tries them again."""
        return [result for result in self.results if result.status == "failed"]


def plan(
    group: str,
    *,
    methods: Sequence[str] | None = None,
    seeds: int = 10,
    init: str = "random",
    engine: str = "oracle",
    epochs: int | None = None,
) -> list[Spec]:
    """All runs of a group: see ``Grid.specs``. In ``all``, a grid without one of ``methods`` goes without it."""
    loaded = [grids.load_grid(name) for name in grids.groups(group)]
    specs = []
    for grid in loaded:
        known = methods if methods is None or len(loaded) == 1 else [name for name in methods if name in grid.methods]
        specs += grid.specs(methods=known, seeds=seeds, init=init, engine=engine, epochs=epochs)
    return specs


def reproduce(
    label: str, specs: Sequence[Spec], out: Path | str, *, workers: int = 2, stream: TextIO | None = sys.stderr
) -> Outcome:
    """Do the runs that are not done yet, and write results, tables and figures of all that are in the folder.

    Args:
        label: what to call it in the progress line.
        specs: the runs.
        out: folder of results; one folder under ``runs`` for each run.
        workers: processes.
        stream: where progress goes; ``None`` for nowhere.

    Raises:
        KeyboardInterrupt: it was asked to stop; the message says how to go on.
    """
    out = Path(out)
    register(out, specs)
    missing = [spec for spec in specs if not (run_folder(out, spec) / "metrics.json").exists()]
    outlook = GridProgress(label, missing, skipped=len(specs) - len(missing), workers=workers, stream=stream)
    try:
        do(missing, out, workers=workers, report=outlook.report)
    except KeyboardInterrupt:
        outlook.close()
        raise KeyboardInterrupt(
            f"stopped with {outlook.done} of {outlook.total} runs done; {out} keeps them and the epochs of those that "
            f"were under way: run the same command again to go on"
        ) from None
    outlook.close()
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
