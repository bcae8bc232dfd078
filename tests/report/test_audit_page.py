from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from regretless.number_text import number_text
from regretless.report.audit_page import findings, limits, render_audit, sentences, write_audit

from .audits import make_audit


def test_a_clear_gain_is_stated_with_its_interval() -> None:
    said = findings(make_audit(*[(1.0, 3.0 + 0.01 * k) for k in range(12)]))
    assert "12 instances have a total objective of 1,212" in said[0]
    assert "a regret of 12.00 (1.00 % of the absolute best objectives)" in said[0]
    assert "the decisions gained 24.66 against it in total" in said[1]
    assert "includes zero" not in said[1]
    assert said[2] == "12 of 12 decisions differ from those of two-stage."


def test_a_loss_is_called_a_loss_and_an_unsure_gain_unsure() -> None:
    assert "the decisions lost 20.00" in findings(make_audit(*[(3.0, 1.0)] * 10))[1]
    assert "includes zero" in findings(make_audit(*[(1.0, 2.0), (2.0, 1.0)] * 10))[1]
    for regret, two_stage, interval in ((1.0, 1.05, "0.5000"), (1.05, 1.0, "\N{MINUS SIGN}0.5000")):
        said = findings(make_audit(*[(regret, two_stage)] * 10))[1]
        assert f"the 95 % interval of the gain lies between {interval} and {interval}." in said, "however small it is"


def test_negative_numbers_of_the_command_line_can_be_printed_by_every_console() -> None:
    audit = make_audit(*[(3.0, 1.0)] * 10)
    assert "\N{MINUS SIGN}20.00" in findings(audit)[1]
    assert "between -20 and -20" in sentences(audit)[1]


@pytest.mark.parametrize("size", [1e9, 1e-9])
def test_large_and_tiny_numbers_of_the_command_line_can_be_printed_by_every_console(size: float) -> None:
    audit = make_audit(*[(3.0 * size, 1.0 * size)] * 10)
    assert "× 10" in findings(audit)[1]
    assert f"lost {number_text(20 * size)} against it" in sentences(audit)[1]
    assert all(sentence.isascii() for sentence in sentences(audit))
    assert all(sentence.isascii() for sentence in sentences(audit))


def test_equal_decisions_have_no_interval() -> None:
    said = findings(make_audit((1.0, 1.0), (0.0, 0.0)))
    assert said[1:] == ["Two-stage would have had the same regret: the decisions are the same."]


def test_without_a_baseline_that_is_said() -> None:
    said = findings(make_audit((1.0, None)))
    assert said[0].startswith("The decisions for 1 instance have")
    assert "no two-stage baseline" in said[1]
    assert findings(make_audit((None, None))) == ["No logged decision has a regret yet."]


def test_what_limits_the_figures_is_said() -> None:
    audit = make_audit(
        (1.0, 2.0), (None, None), (None, None), waiting=("a", "b"), not_logged=("c",), superseded=3, infeasible=1
    )
    said = " ".join(limits(audit))
    for words in ("1 logged decision was infeasible", "1 instance has no regret", "2 logged instances wait", "a, b",
                  "1 instance with costs was never logged", "3 decisions were replaced"):  # fmt: skip
        assert words in said
    assert not limits(make_audit((1.0, 2.0)))
    assert "No drift of the regret was found." in sentences(audit)


def test_regrets_against_solves_that_were_cut_short_are_called_bounds() -> None:
    audit = make_audit((-1.0, 2.0), (1.0, 2.0))
    cut_short = replace(audit, days=(replace(audit.days[0], proven=False), audit.days[1]))
    assert "not proven optimal for 1 instance, so the regrets there are only bounds" in limits(cut_short)[0]


def test_the_share_is_that_of_absolute_objectives_since_both_signs_would_cancel() -> None:
    audit = make_audit((1.0, 3.0), (1.0, 3.0))
    mixed = replace(audit, days=(audit.days[0], replace(audit.days[1], best=-99.0, objective=-98.0)))
    assert mixed.relative_regret == mixed.totals()["relative_regret"] == 2 / 199
    assert "(1.01 % of the absolute best objectives)" in findings(mixed)[0]
    none = replace(audit, days=tuple(replace(day, best=0.0, objective=1.0) for day in audit.days))
    assert none.relative_regret is None
    assert findings(none)[0].endswith("a regret of 2.000.")
    tiny = replace(audit, days=tuple(replace(day, best=1e6) for day in audit.days))
    assert "(0.0001 % of" in findings(tiny)[0]


def test_one_day_gives_a_gain_without_an_interval() -> None:
    audit = make_audit((1.0, 3.0))
    assert findings(audit)[1].endswith(
        "the decisions gained 2.000 against it in total. One instance gives no interval."
    )
    assert [audit.totals()[name] for name in ("gain", "gain_low", "gain_high")] == [2.0, None, None]


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
