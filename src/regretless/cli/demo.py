"""``regretless demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.show import print_json, print_ledger, print_table
from regretless.cli.spec_options import Json, Seed
from regretless.cli.writable import need_report_packages, refuse_unwritable
from regretless.paper.training_defaults import training_defaults
from regretless.progress import track
from regretless.report import write
from regretless.runs import Spec, run
from regretless.runs.run_folder import run_path
from regretless.runs.run_ledger import solve_ledger
from regretless.runs.spec_check import check_spec
from regretless.runs.training_run import load_problem

PROBLEM = "synthetic-knapsack-60"
METHODS = ("two-stage", "spo", "spo-cache", "nce-c", "map-dc")
COLUMNS = ("method", "test regret", "relative regret", "seconds per epoch", "solver calls", "cache size")


def demo(
    out: Annotated[Path, typer.Option(help="Folder for runs and report.")] = Path("demo"),
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Train five methods on embedded data, print a table and write an HTML report."""
    specs = [Spec(PROBLEM, method, seed=seed, **training_defaults(PROBLEM, method)) for method in METHODS]
    need_report_packages()
    refuse_unwritable(out)
    for spec in specs:
        check_spec(spec)
    loaded = load_problem(specs[0])
    figures = {}
    for spec in track(specs, total=len(specs), label="demo"):
        figures[spec.method] = run(spec, run_path(out, spec), loaded=loaded, progress=False)
    page = write(out, out / "report.html", title="regretless demo")
    if json:
        print_json({"report": str(page), "methods": figures, "ledger": solve_ledger(loaded.problem)})
        return
    shown = ("regret", "relative_regret", "epoch_seconds", "solves", "cache_size")
    rows = [(name, *(row[column] for column in shown)) for name, row in figures.items()]
    print_table(f"{PROBLEM}: train on {len(loaded.train)} days, test on {len(loaded.test)}", COLUMNS, rows)
    print_ledger(solve_ledger(loaded.problem))
    print(f"report: {page}")
