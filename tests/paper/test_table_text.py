from __future__ import annotations

import csv
import io
import math

import pytest

from regretless.paper.table_text import as_csv, as_latex, as_markdown, layout, value

ABOUT = {"title": "T", "caption": "5 % of it_all", "label": "table:t"}


def cell(problem: str = "k-60", method: str = "spo", **fields: object) -> dict[str, object]:
    base: dict[str, object] = {"problem": problem, "metric": "regret", "method": method, "init": "random", "seeds": 2}
    base |= {"ours": 764.4, "ours_deviation": 2.2, "published": 700.0, "published_deviation": 3.0, "outside": True}
    return base | fields


def test_problems_stand_side_by_side_ours_before_the_papers() -> None:
    rows = [cell(), cell("k-120", outside=False), cell(method="qptl", ours=math.nan, seeds=0, outside=None)]
    assert layout(rows) == [
        ["method", "k-60, ours", "k-60, paper", "k-120, ours", "k-120, paper"],
        ["spo", "764 (2)*", "700 (3)", "764 (2)", "700 (3)"],
        ["qptl", "–", "700 (3)", "–", "–"],
    ]


def test_metrics_and_kinds_of_first_weights_are_named_where_there_are_several() -> None:
    rows = [cell(), cell(metric="mse"), cell(init="shared")]
    assert [line[0] for line in layout(rows)[1:]] == [
        "spo, regret (random init)",
        "spo, regret (shared init)",
        "spo, mse (random init)",
    ]


def test_a_table_with_nothing_published_has_no_column_for_it() -> None:
    alone = cell(published=None, published_deviation=None)
    assert layout([alone])[0] == ["method", "k-60, ours"]
    assert layout([alone, cell(method="qptl")])[1:] == [["spo", "764 (2)*", "–"], ["qptl", "764 (2)*", "700 (3)"]]


def test_csv_keeps_full_precision_and_leaves_nothing_empty() -> None:
    (row,) = csv.DictReader(io.StringIO(as_csv(["ours", "published"], [{"ours": 1 / 3, "published": math.nan}])))
    assert float(row["ours"]) == 1 / 3
    assert row["published"] == ""


def test_markdown_and_latex_escape_what_they_must() -> None:
    assert r"764 (2)\*" in as_markdown(ABOUT, [cell()])
    text = as_latex(ABOUT, [cell()])
    assert r"5 \% of it\_all" in text
    assert "764 (2)$^{*}$" in text
    assert text.count("&") == 4


@pytest.mark.parametrize(
    ("mean", "deviation", "text"),
    [
        (40762.4, 85.2, "40762 (85)"),
        (-764.3, 2.0, "-764 (2)"),
        (23.44, 1.06, "23.4 (1.1)"),
        (0.4861, 0.0032, "0.486 (0.003)"),
        (5.0, math.nan, "5.000"),
    ],
)
def test_values_have_as_many_digits_as_mean_something(mean: float, deviation: float, text: str) -> None:
    assert value(mean, deviation) == text


def test_a_small_number_does_not_read_as_zero() -> None:
    assert (value(0.00042, 0.0001), value(0.0), value(-0.0002)) == ("0.00042 (0.0001)", "0.000", "-0.0002")
