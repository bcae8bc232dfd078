"""``regretless demo``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from regretless.cli.output_check import need_report_packages, refuse_unwritable
from regretless.cli.show import print_json, print_ledger, print_table
from regretless.cli.spec_options import Json, Seed, Workers
from regretless.data import Dataset
from regretless.milp import MILP
from regretless.paper.training_defaults import training_defaults
from regretless.problem import Problem
from regretless.progress import track
from regretless.report import write
from regretless.runs import Spec, run
from regretless.runs.run_folder import refuse_foreign, run_path
from regretless.runs.run_ledger import solve_ledger
from regretless.runs.spec_check import check_spec
from regretless.runs.training_run import load_problem
from regretless.search import train


class DemoProblem(StrEnum):
    """Problems of the demo."""

    workshop = "workshop"
    knapsack = "knapsack"


# Watching would solve every test instance after every epoch. All decision losses continue from the two-stage weights.
_FROM_TWO_STAGE = {"watch": False, "start": "two-stage"}
# A name in the table of problems, and per method the fields of its specification that differ from the defaults there.
DEMOS: dict[DemoProblem, tuple[str, dict[str, dict[str, Any]]]] = {
    DemoProblem.workshop: (
        "workshop",
        {
            "two-stage": {"watch": False, "settings": {"fit": "best"}},
            **dict.fromkeys(("spo", "spo-cache", "map-dc"), _FROM_TWO_STAGE),
            # The same linear model for all methods.
            "auto": {"watch": False, "settings": {"terms": "none"}},
        },
    ),
    DemoProblem.knapsack: (
        "synthetic-knapsack-60", {name: {} for name in ("two-stage", "spo", "spo-cache", "nce-c", "map-dc")},
    ),
}  # fmt: skip
COLUMNS = ("method", "test regret", "relative regret", "training solves", "training seconds", "seconds per epoch")


def demo_specs(problem: DemoProblem, seed: int) -> list[Spec]:
    """One specification per method."""
    name, changes = DEMOS[problem]
    settings = {method: training_defaults(name, method) | change for method, change in changes.items()}
    return [Spec(name, method, seed=seed, **own) for method, own in settings.items()]


def demo(
    problem: Annotated[
        DemoProblem, typer.Option(help="workshop (a general MILP, solved by HiGHS) or knapsack (a special oracle).")
    ] = DemoProblem.workshop,
    out: Annotated[Path, typer.Option(help="Folder for runs and report.")] = Path("demo"),
    workers: Workers = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Train five methods on embedded data, print a table and write an HTML report."""
    specs = demo_specs(problem, seed)
    need_report_packages()
    refuse_unwritable(out)
    refuse_foreign(out, what="demo", mark="runs/*/spec.json", names=("report.html",))
    for spec in specs:
        check_spec(spec, workers=workers)
    loaded = load_problem(specs[0], workers=workers)
    _warm_up()
    figures = {}
    for spec in track(specs, total=len(specs), label="demo"):
        figures[spec.method] = run(spec, run_path(out, spec), loaded=loaded, progress=False)
    page = write(out, out / "report.html", title="regretless demo")
    ledger = solve_ledger(loaded.problem)
    if json:
        print_json({"report": str(page), "methods": figures, "ledger": ledger})
        return
    rows = [_row(name, figures[name]) for name in figures]
    print_table(f"{specs[0].problem}: train on {len(loaded.train)} days, test on {len(loaded.test)}", COLUMNS, rows)
    print_ledger(ledger)
    print(f"report: {page}")


def _row(method: str, figures: dict[str, Any]) -> tuple[Any, ...]:
    solves = figures["solves"] + figures.get("scoring_solves", 0)
    shown = [figures[name] for name in ("regret", "relative_regret")]
    return (method, *shown, solves, figures["train_seconds"], figures["epoch_seconds"])


def _warm_up() -> None:
    """Train on a problem of three items, so that imports and first calls of torch do not count as training time."""
    problem = Problem(MILP([[1.0, 1.0, 1.0]], row_upper=2.0), sense="max")
    data = Dataset.solve(problem, torch.eye(12), torch.arange(36.0).reshape(12, 3).sin())
    for method in ("spo-cache", "auto"):
        train(problem, data, method=method, epochs=1, progress=False)
