"""The details of single runs: verdict and candidates of a search, and decisions per instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from regretless.charts.text import MISSING, decimals, number, show
from regretless.deciding.audited_run import Day, verdict_of
from regretless.report.days import worst_table
from regretless.report.groups import ON
from regretless.report.page_charts import day_charts
from regretless.report.report_data import DONE, Run
from regretless.report.sortable_table import Cell, Column, SortableTable
from regretless.runs.method_names import method_and_baseline
from regretless.runs.new_rows import training_rows_sentence

MOST = 8  # runs with a section of their own


def run_details(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Sections of the runs that kept a search or decisions per instance; the first eight."""
    chosen = [run for run in runs if run.status == DONE and (run.search or run.days)][:MOST]
    titles = [_title(run) for run in chosen]
    # Runs on other data, or with other settings, may have the same title: then the name of the folder tells them apart.
    titles = [
        f"{title}, in {run.name}" if titles.count(title) > 1 else title
        for title, run in zip(titles, chosen, strict=True)
    ]
    return [_details(run, title, f"run-{k}") for k, (run, title) in enumerate(zip(chosen, titles, strict=True))]


def _title(run: Run) -> str:
    seed = f", seed {run.spec['seed']}" if "seed" in run.spec else ""
    return f"{_names(run)[0]} on {run.problem}{seed}"


def _names(run: Run) -> tuple[str, str]:
    return method_and_baseline(run.method, run.part("settings"))


def _details(run: Run, title: str, anchor: str) -> dict[str, Any]:
    _, baseline = _names(run)
    charts, legend = day_charts(run.days, anchor, baseline)
    rows = training_rows_sentence(run.metrics)
    findings = [*filter(None, [rows]), *_verdict(run), *_gain(run.days, str(run.metrics.get("on", "test")), baseline)]
    return {
        "anchor": anchor, "title": title, "findings": findings, "charts": charts, "legend": legend,
        "worst": worst_table(run.days, baseline), "candidates": _candidates(run.search.get("candidates")),
    }  # fmt: skip


def _verdict(run: Run) -> list[str]:
    """What a search says about itself; its figures are from folds of the training data."""
    said = run.metrics.get("verdict")
    if not isinstance(said, str):
        return []
    return [f"{said} Chosen: {run.search.get('chosen', run.metrics.get('chosen', MISSING))}."]


def _gain(days: Sequence[Day], on: str, baseline: str) -> list[str]:
    found = verdict_of(days)
    if found is None:
        return []
    n = found.instances
    on = ON.get(on, on)
    where = f"the {n:,} {on} instances" if n > 1 else f"the only {on} instance"
    said = f"On {where} the decisions have a total regret of {show(n * found.model)}"
    if not any(day.gain for day in days):
        return [f"{said}, as {baseline}."]
    words = "less" if found.gain >= 0 else "more"
    said += f", which is {show(abs(n * found.gain))} {words} than {baseline} ({show(n * found.two_stage)})"
    interval = f"{100 * found.level:.0f} % interval of the gain: {show(n * found.low)} to {show(n * found.high)}"
    return [f"{said}, in units of the objective{f'; {interval}' if n > 1 else ''}."]


def _candidates(rows: Any) -> SortableTable | None:
    known = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    if not known:
        return None
    columns = [Column("candidate", numeric=False), Column("epochs")]
    columns += [Column("regret by look-up", explain="in the cache, on held-out folds; the verdict is by exact solves")]
    columns += [Column("in the committee", numeric=False)]
    regrets = [number(row.get("regret")) for row in known]
    places = decimals(regrets, digits=4)
    return SortableTable(
        "Candidates of the search",
        columns,
        [
            [
                Cell(str(row.get("name", MISSING))),
                Cell(str(row.get("epochs", MISSING)), number(row.get("epochs"))),
                Cell(show(regret, places), regret),
                Cell("yes" if row.get("member") else "no"),
            ]
            for row, regret in zip(known, regrets, strict=True)
        ],
    )
