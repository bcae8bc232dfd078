"""``regretless demo``."""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Demo:
    """What a demo trains.

    Attributes:
        problem: name in the table of problems.
        methods: one row each.
        changes: fields of a method's specification that differ from the defaults of its problem.
    """

    problem: str
    methods: tuple[str, ...]
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)

    def specs(self, seed: int) -> list[Spec]:
        """One specification per method."""
        made = []
        for method in self.methods:
            settings = training_defaults(self.problem, method) | self.changes.get(method, {})
            made.append(Spec(self.problem, method, seed=seed, **settings))
        return made


class DemoProblem(StrEnum):
    """Problems of the demo."""

    workshop = "workshop"
    knapsack = "knapsack"


# Watching would solve every test instance after every epoch. All decision losses continue from the two-stage weights.
_FROM_TWO_STAGE = {"watch": False, "start": "two-stage"}
DEMOS = {
    DemoProblem.workshop: Demo(
        "workshop",
        ("two-stage", "spo", "spo-cache", "map-dc", "auto"),
        {
            "two-stage": {"watch": False, "settings": {"fit": "best"}},
            # The same linear model for all methods.
            "auto": {"watch": False, "settings": {"terms": "none"}},
            **dict.fromkeys(("spo", "spo-cache", "map-dc"), _FROM_TWO_STAGE),
        },
    ),
    DemoProblem.knapsack: Demo("synthetic-knapsack-60", ("two-stage", "spo", "spo-cache", "nce-c", "map-dc")),
}
COLUMNS = ("method", "test regret", "relative regret", "training solves", "training seconds", "seconds per epoch")


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
    specs = DEMOS[problem].specs(seed)
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
