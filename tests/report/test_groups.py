from __future__ import annotations

import math
from pathlib import Path

import pytest
from regretless.report.collect import collect

from regretless.report.groups import percent, sections, summarise

from .conftest import MakeRun


def test_runs_that_differ_in_the_seed_only_are_one_group(results: Path) -> None:
    (section,) = sections(collect(results).runs)
    assert [(group.label, len(group.runs)) for group in section.groups] == [
        ("two-stage", 2),
        ("spo", 2),
        ("spo-cache", 2),
    ]


def test_a_variant_names_what_sets_groups_of_a_method_apart(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo-cache", settings={"p_solve": 0.2})
    make_run("spo-cache", settings={"p_solve": 0.01})
    make_run("spo")
    (section,) = sections(collect(tmp_path / "results").runs)
    assert [group.label for group in section.groups] == ["spo", "spo-cache (p_solve 1 %)", "spo-cache (p_solve 20 %)"]


def test_other_data_are_another_section_and_another_engine_is_a_variant(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", options={"days": 40})
    make_run("spo")
    make_run("spo", options={"engine": "highs"})
    found = {
        section.label: [group.variant for group in section.groups]
        for section in sections(collect(tmp_path / "results").runs)
    }
    assert found["synthetic-knapsack-60 (days 40)"] == [""]
    assert sorted(found["synthetic-knapsack-60"]) == ["engine default", "engine highs"]


def test_runs_without_figures_are_in_no_group(make_run: MakeRun) -> None:
    assert sections(collect(make_run("spo", finish=False)).runs) == ()


def test_statistics_are_mean_and_sample_deviation() -> None:
    found = summarise([1.0, 3.0, None])
    assert (found.mean, found.deviation, found.count, found.lost) == (2.0, pytest.approx(math.sqrt(2)), 2, 0)


def test_values_that_are_not_finite_are_counted_as_lost() -> None:
    found = summarise([1.0, math.nan, math.inf])
    assert (found.mean, found.deviation, found.count, found.lost) == (1.0, None, 1, 2)
    assert summarise([math.inf]).mean == math.inf
    assert summarise([]).mean is None


def test_huge_values_do_not_overflow() -> None:
    assert summarise([1e308, 1e308]).mean == pytest.approx(1e308)


def test_shares_are_written_as_per_cent() -> None:
    assert [percent(0.05), percent(1.0), percent(0.1171, 2), percent(None)] == ["5 %", "100 %", "11.71 %", "–"]
