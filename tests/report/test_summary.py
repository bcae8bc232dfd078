from __future__ import annotations

import re
from pathlib import Path

from regretless.report.collect import collect
from regretless.report.summary import summary

from regretless.report.groups import sections

from .conftest import MakeRun


def table(results: Path) -> str:
    (section,) = sections(collect(results).runs)
    return str(summary(section))


def best(text: str) -> list[str]:
    return re.findall(r'<td class="number best" data-value="[^"]*">([^<]*)', text)


def test_the_lowest_regret_is_marked_as_best(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"regret": 500.0, "mse": 9.0})
    make_run("map-dc", metrics={"regret": 400.0, "mse": 10.0})
    assert {"400.0", "9.00"} <= set(best(table(tmp_path / "results")))


def test_the_highest_auc_is_marked_as_best(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"auc": 0.6})
    make_run("map-dc", metrics={"auc": 0.7})
    assert "0.700" in best(table(tmp_path / "results"))


def test_columns_without_values_are_left_out(results: Path) -> None:
    assert "AUC" not in table(results)


def test_several_seeds_show_their_deviation(results: Path) -> None:
    assert table(results).count(" ± ") >= 3


def test_values_that_read_alike_are_not_better_than_each_other(results: Path) -> None:
    assert "20,000" not in best(table(results))


def test_one_method_alone_is_not_the_best(make_run: MakeRun) -> None:
    assert best(table(make_run("spo"))) == []


def test_a_seed_that_diverged_is_said_and_not_best(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", metrics={"regret": 300.0})
    make_run("spo", seed=1, metrics={"regret": float("nan")})
    make_run("map-dc", metrics={"regret": 400.0})
    make_run("nce-c", metrics={"regret": 500.0})
    text = table(tmp_path / "results")
    assert "(1 not finite)" in text
    assert "400.0" in best(text)


def test_variants_have_their_own_column(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("spo", init="shared")
    make_run("spo")
    assert "init shared" in table(tmp_path / "results")
