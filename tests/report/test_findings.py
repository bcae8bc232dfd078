from __future__ import annotations

import re
from pathlib import Path

from regretless.report.collect import collect

from regretless.report.findings import finding
from regretless.report.groups import sections

from .conftest import MakeRun


def words(results: Path) -> str | None:
    (section,) = sections(collect(results).runs)
    found = finding(section)
    return None if found is None else re.sub("<[^>]*>", "", found).replace("\N{NO-BREAK SPACE}", " ")


def test_best_method_saving_and_baseline_are_named(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("two-stage", metrics={"regret": 1000.0, "solves": 0})
    make_run("spo", metrics={"regret": 800.0, "solves": 10000})
    make_run("map-dc", metrics={"regret": 808.0, "solves": 500})
    text = words(tmp_path / "results")
    assert text is not None
    assert text.startswith("spo has the lowest test regret, 800: 20 % below two-stage (1,000). ")
    assert "map-dc comes within 1 % of it with 20.0 times fewer solver calls. " in text
    assert text.endswith("With one seed, small differences may be chance.")


def test_a_method_that_is_not_near_saves_nothing(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"regret": 800.0, "solves": 10000})
    make_run("map-dc", metrics={"regret": 900.0, "solves": 500})
    assert "fewer solver calls" not in (words(tmp_path / "results") or "")


def test_one_method_alone_is_compared_with_nothing(make_run: MakeRun) -> None:
    assert words(make_run("spo")) is None


def test_methods_that_diverged_do_not_win(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"regret": float("-inf")})
    make_run("nce-c", metrics={"regret": 500.0})
    make_run("map-dc", metrics={"regret": 400.0})
    assert (words(tmp_path / "results") or "").startswith("map-dc has the lowest")
