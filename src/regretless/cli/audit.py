"""``regretless audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from regretless.cli.output_check import need_report_packages, refuse_other_pages, refuse_overwriting, refuse_unwritable
from regretless.cli.show import figure_name, print_json, print_table
from regretless.cli.spec_options import Json, Workers
from regretless.deciding.audit import Audit, audit_decisions
from regretless.report.audit_page import sentences, write_audit


def audit(
    log: Annotated[Path, typer.Argument(help="Log of decisions that decide --log wrote.")],
    costs: Annotated[
        Path,
        typer.Option(
            help="True costs: a column per cost variable, and the one that names the rows: instance, or --id of train."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="HTML page to write (.html). Default: none; a summary is printed.")
    ] = None,
    workers: Workers = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds per solve. Default: that of the run.")] = None,
    json: Json = False,
) -> None:
    """Compare logged decisions with the true costs: regret, gain over two-stage, worst instances, drift."""
    if out is not None:
        refuse_overwriting(out, log, costs)
        refuse_other_pages(out)
        need_report_packages()
        refuse_unwritable(out, folder=False)
    found = audit_decisions(log, costs, workers=workers, time_limit=time_limit, progress=False if json else None)
    if out is not None:
        write_audit(found, out, title=f"Audit of {log.name}")
    if json:
        print_json(found.as_dict() | ({} if out is None else {"out": str(out)}))
        return
    _print(found)
    if out is not None:
        print(f"page: {out}")


def _print(found: Audit) -> None:
    totals = found.totals()
    rows = [(figure_name(name), value) for name, value in totals.items() if value is not None]
    print_table("audit: sums over all days", ("figure", "value"), rows)
    columns = ("instance", "found", "objective", "best", "regret", "two-stage regret")
    worst = [
        (day.instance, day.found, day.objective, day.best, day.regret, day.two_stage_regret) for day in found.worst
    ]
    if worst:
        print_table("worst days", columns, worst)
    for sentence in sentences(found):
        print(sentence)
