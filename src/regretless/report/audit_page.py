"""The page of an audit: one self-contained HTML file, with the style and the script of the report."""

from __future__ import annotations

from pathlib import Path

from regretless.charts.text import show
from regretless.deciding.audit import Audit
from regretless.report.audit_words import findings, limits
from regretless.report.day_charts import day_charts
from regretless.report.days import audited_days, every_table, worst_table
from regretless.report.page import page_parts, templates
from regretless.storage import write_text


def render_audit(audit: Audit, *, title: str) -> str:
    """Write the page; equal data give equal bytes."""
    days = audited_days(audit)
    charts, legend = day_charts(days, "audit")
    worst, total = worst_table(days), audit.totals()
    facts = [("instances", f"{len(audit.known):,}"), ("regret", show(total["regret"]))]
    if total["gain"] is not None:
        facts += [("gain over two-stage", show(total["gain"])), ("changed decisions", str(total["changed_decisions"]))]
    return templates().get_template("audit.html").render(
        **page_parts(),
        title=title,
        facts=facts,
        findings=findings(audit),
        drift=[("Regret", audit.regret_drift), ("Features", audit.feature_drift)],
        limits=limits(audit),
        charts=charts,
        legend=legend,
        worst=worst,
        every=every_table(days) if len(days) > (len(worst.rows) if worst else 0) else None,
    )  # fmt: skip


def write_audit(audit: Audit, out: Path | str, *, title: str) -> Path:
    """Write the page to a file; an existing file is replaced in one step."""
    out = Path(out)
    write_text(out, render_audit(audit, title=title))
    return out
