"""What an audit says: in sentences, for the command line too, and as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from regretless.charts.text import show
from regretless.deciding.audit import Audit
from regretless.listing import listed
from regretless.number_text import number_text, percentage
from regretless.report.days import every_table, worst_table
from regretless.report.page import page_parts, templates
from regretless.report.page_charts import day_charts
from regretless.storage import write_text


def sentences(audit: Audit) -> list[str]:
    """The findings first, then what limits them; as plain text: not every console has a minus sign or a superscript."""
    drift = [audit.regret_drift.sentence, audit.feature_drift.sentence]
    return [*findings(audit, number_text), *drift, *limits(audit)]


def findings(audit: Audit, write: Callable[[float], str] = show) -> list[str]:
    """What the decisions cost, and what they gained; ``write`` turns a number into text."""
    total = audit.totals()
    if not audit.known:
        return ["No logged decision has a regret yet."]
    objective, best, regret = (total[name] or 0.0 for name in ("objective", "best", "regret"))
    part = audit.relative_regret
    # The relative regret of all other pages: objectives of both signs would cancel in the sum of the best ones.
    share = "" if part is None else f" ({percentage(part)} % of the absolute best objectives)"
    count = len(audit.known)
    days = _count(count, "instance", "instances")
    said = [
        f"The decisions for {days} have a total objective of {write(objective)}; the best decisions in hindsight would "
        f"have had {write(best)}: a regret of {write(regret)}{share}."
    ]
    if audit.verdict is None or total["gain"] is None:
        return [*said, "What two-stage would have decided is not known: the run has no two-stage baseline."]
    changed, compared = int(total["changed_decisions"] or 0), int(total["compared_days"] or 0)
    if not changed:
        return [*said, "Two-stage would have had the same regret: the decisions are the same."]
    gain, low, high = total["gain"], total["gain_low"], total["gain_high"]
    words = "gained" if gain >= 0 else "lost"
    if low is None or high is None:
        interval = ". One instance gives no interval"
    else:
        sure = "lies" if low > 0 or high < 0 else "includes zero and lies"
        interval = f", and the {100 * audit.verdict.level:.0f} % interval of the gain {sure} between "
        interval += f"{write(low)} and {write(high)}"
    said.append(
        f"Two-stage would have had a regret of {write(total['two_stage_regret'] or 0.0)}: the decisions {words} "
        f"{write(abs(gain))} against it in total{interval}."
    )
    return [*said, f"{changed} of {compared} decisions differ from those of two-stage."]


def limits(audit: Audit) -> list[str]:
    """What a reader must know before relying on the figures."""
    said = []
    if audit.infeasible:
        said.append(f"{_count(audit.infeasible, 'logged decision was', 'logged decisions were')} infeasible.")
    lost = len(audit.days) - len(audit.known) - audit.infeasible
    if lost > 0:
        said.append(f"{_count(lost, 'instance has', 'instances have')} no regret: a solve failed or found no decision.")
    unproven = sum(not day.proven for day in audit.known)
    if unproven:
        said.append(
            "The best decisions or those of two-stage are not proven optimal for "
            f"{_count(unproven, 'instance', 'instances')}, so the regrets there are only bounds: give a longer "
            "--time-limit."
        )
    if audit.waiting:
        words = _count(len(audit.waiting), "logged instance waits for its", "logged instances wait for their")
        said.append(f"{words} true costs: {listed(audit.waiting)}.")
    if audit.not_logged:
        words = _count(len(audit.not_logged), "instance with costs was", "instances with costs were")
        said.append(f"{words} never logged: {listed(audit.not_logged)}.")
    if audit.superseded:
        words = _count(audit.superseded, "decision was", "decisions were")
        said.append(f"{words} replaced by a later one for the same instance.")
    return said


def _count(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def render_audit(audit: Audit, *, title: str) -> str:
    """Write the page; equal data give equal bytes."""
    days = audit.known
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
