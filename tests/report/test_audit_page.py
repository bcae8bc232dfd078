from __future__ import annotations

import re
from pathlib import Path

from regretless.report.audit_page import render_audit, write_audit

from .audits import make_audit


def test_the_page_has_findings_charts_drift_and_worst_days(tmp_path: Path) -> None:
    audit = make_audit(*[(float(k % 5), float(k % 7)) for k in range(30)], waiting=("2024-03-01",))
    page = write_audit(audit, tmp_path / "audit.html", title="Audit of <d.db>").read_text()
    for words in ("Audit of &lt;d.db&gt;", "Regret summed up", "No drift of the regret", "1 logged instance waits for",
                  "All 30 instances", "best decision"):  # fmt: skip
        assert words in page
    assert page.count("<svg") == 4  # two charts and a legend of two
    assert page == render_audit(audit, title="Audit of <d.db>")


def test_one_day_or_none_is_a_page_without_charts() -> None:
    for audit in (make_audit((1.0, None)), make_audit((None, None))):
        page = render_audit(audit, title="Audit")
        assert "<svg" not in page
        assert page.rstrip().endswith("</html>")


def test_names_from_files_are_text_and_not_markup() -> None:
    audit = make_audit((1.0, 2.0), waiting=("<script>alert(1)</script>",))
    assert "<script>alert" not in render_audit(audit, title="Audit")


def test_of_very_many_days_the_page_lists_the_worst_thousand() -> None:
    page = render_audit(make_audit(*[(float(k), 1.0) for k in range(1200)]), title="audit")
    assert "The 1,000 instances of largest regret, of 1,200; regretless audit --json lists all" in page
    assert page.count("<tr") < 1100


def test_the_facts_have_a_gain_where_there_is_a_baseline() -> None:
    names = ["instances", "regret", "gain over two-stage", "changed decisions"]
    for audit, values in (
        (make_audit((1.0, 3.0), (2.0, 2.0)), ["2", "3.000", "2.000", "1"]),
        (make_audit((1.0, None), (2.0, None)), ["2", "3.000"]),
    ):
        facts = re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", render_audit(audit, title="audit"))
        assert facts == list(zip(names, values, strict=False))
