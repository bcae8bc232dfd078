"""The page: one template with one style sheet and one script inside, nothing from outside; sections by question."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from regretless.charts import series_styles
from regretless.charts.text import finite, number, printable, show_seconds
from regretless.paper.grid import GROUPS
from regretless.report.attachments import Attachment
from regretless.report.findings import cautions, finding, without_result
from regretless.report.groups import Section, natural_order, sections
from regretless.report.page_charts import Styles, legend, problem_charts
from regretless.report.protocol import environment, protocol
from regretless.report.report_data import DONE, ReportData, Run
from regretless.report.run_details import run_details
from regretless.report.summary_table import solves_table, summary_table

QUESTIONS = {
    "Q1": "How good is each contrastive loss, in terms of regret?",
    "Q2": "What does the growth of the solution cache do to quality and time?",
    "Q3": "What do other solver-agnostic methods gain from the cache?",
    "Q4": "How do the methods compare with the state of the art, in regret and in time?",
}
MORE = "Further tables and figures"
EMBEDDED = ("regret", "relative_regret", "mse", "auc", "epochs", "epoch_seconds", "train_seconds", "solver_seconds",
            "solves", "scoring_solves", "lookups", "cache_size")  # fmt: skip


def questions(attachments: Sequence[Attachment]) -> list[dict[str, Any]]:
    """Sort tables and figures into sections: numbered questions first, then other headings, the rest last."""
    names = {item.question for item in attachments}
    found = []
    for name in sorted(names, key=lambda name: (not name, not re.fullmatch(r"Q\d+", name), natural_order(name))):
        heading = f"{name}. {QUESTIONS[name]}" if name in QUESTIONS else (name or MORE)
        anchor = "question-" + (re.sub(r"[^a-z0-9]+", "-", name.lower()) or "more")
        its = [item for item in attachments if item.question == name]
        found.append({"anchor": anchor, "name": name or MORE, "heading": heading, "attachments": its})
    return found


def render(data: ReportData) -> str:
    """Write the page; equal data give equal bytes.

    Returns:
        An HTML document that loads nothing.
    """
    found = sections(data.runs)
    styles = series_styles((group.method, group.variant) for section in found for group in section.groups)
    return templates().get_template("page.html").render(
        **page_parts(),
        title=data.title,
        data=data,
        facts=_facts(data),
        methods=list(dict.fromkeys(group.method for section in found for group in section.groups)),
        cautions=cautions(data),
        questions=questions(data.attachments),
        problems=[_problem(section, styles, f"problem-{index}") for index, section in enumerate(found)],
        details=run_details(data.runs),
        families=[name for name in GROUPS if any(run.problem.startswith(f"{name}-") for run in data.runs)],
        protocol=protocol(found) if found else None,
        environment=environment(data.runs),
        without_result=without_result(data.runs),
        rows=[_row(run) for run in data.runs],
    )  # fmt: skip


def page_parts() -> dict[str, str]:
    """Style, script and security policy, which all pages share."""
    style, script = _asset("style.css"), _asset("page.js")
    # Only this script and this style may act, even if something else ever got into the page.
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return {"style": style, "script": script, "policy": policy}


def _problem(section: Section, styles: Styles, anchor: str) -> dict[str, Any]:
    of_groups = [(group.label, styles[group.method, group.variant]) for group in section.groups]
    return {
        "anchor": anchor, "label": section.label, "finding": finding(section), "table": summary_table(section),
        "charts": problem_charts(section, styles, anchor), "legend": legend(of_groups, anchor),
        "solves": solves_table(section),
    }  # fmt: skip


def _facts(data: ReportData) -> list[tuple[str, str]]:
    done = [run for run in data.runs if run.status == DONE]
    seconds = math.fsum(finite(run.metric("train_seconds") for run in done))
    return [
        ("problems", str(len({run.problem for run in data.runs}))),
        ("methods", str(len({run.method for run in data.runs}))),
        ("seeds", str(len({str(run.spec.get("seed")) for run in data.runs}))),
        ("finished runs", f"{len(done):,} of {len(data.runs):,}"),
        ("training", show_seconds(seconds)),
    ]


def _row(run: Run) -> dict[str, Any]:
    """A run for the embedded data; JSON has no word for values that are not finite."""
    numbers = {name: run.metric(name) for name in EMBEDDED}
    numbers |= {"seed": number(run.spec.get("seed")), "p_solve": run.p_solve}
    row: dict[str, Any] = {"run": run.name, "problem": run.problem, "method": run.method, "status": run.status}
    return row | {name: value if value is None or math.isfinite(value) else None for name, value in numbers.items()}


@cache
def templates() -> Environment:
    """The templates of the page; every text that is not marked as markup is escaped, whatever file it came from."""
    return Environment(
        loader=PackageLoader("regretless.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )


def _asset(name: str) -> Markup:
    return Markup(resources.files("regretless.report").joinpath("templates", name).read_text(encoding="utf-8"))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
