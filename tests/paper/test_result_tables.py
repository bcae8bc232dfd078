from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

from regretless.paper.grid import GROUPS, load_grid
from regretless.paper.result_tables import Published, TableData, make_tables, published, write_tables
from regretless.runs.results import read_results

from .folders import finished


def knapsack(folder: Path) -> dict[str, TableData]:
    return {table.about["name"]: table for table in make_tables(load_grid("knapsack"), read_results(folder))}


def cell(table: TableData, **wanted: object) -> dict[str, object]:
    (row,) = [row for row in table.rows if all(row[key] == value for key, value in wanted.items())]
    return row


def test_ours_stands_beside_the_published_value_and_what_is_outside_is_marked(tmp_path: Path) -> None:
    grid = load_grid("knapsack")
    for seed, regret in enumerate((760.0, 770.0)):
        finished(tmp_path, grid.spec("knapsack-60", "map-dc", seed=seed), regret=regret)
        finished(tmp_path, grid.spec("knapsack-120", "map-dc", seed=seed), regret=regret)
    table = knapsack(tmp_path)["q1-knapsack"]
    near = cell(table, problem="knapsack-60", method="map-dc")
    assert (near["ours"], near["ours_deviation"]) == (765.0, pytest.approx(50**0.5))
    assert (near["published"], near["published_deviation"], near["seeds"], near["outside"]) == (764.0, 2.0, 2, False)
    assert (near["difference"], near["tolerance"]) == (1.0, pytest.approx(0.03 * 764))
    far = cell(table, problem="knapsack-120", method="map-dc")
    assert far["published"] == 562.0
    assert far["outside"]
    assert table.outside == [far]


def test_cells_without_runs_show_the_published_value_alone(tmp_path: Path) -> None:
    finished(tmp_path, load_grid("knapsack").spec("knapsack-60", "map-dc"))
    row = cell(knapsack(tmp_path)["q1-knapsack"], problem="knapsack-180", method="two-stage")
    assert (row["published"], row["seeds"], row["outside"], row["difference"]) == (433.0, 0, None, None)


def test_runs_at_another_p_solve_or_engine_stay_out_of_a_table(tmp_path: Path) -> None:
    grid = load_grid("knapsack")
    finished(tmp_path, grid.spec("knapsack-60", "map-dc", settings={"p_solve": 0.05}))
    finished(tmp_path, grid.spec("knapsack-60", "map-dc", options={"engine": "highs"}))
    assert cell(knapsack(tmp_path)["q1-knapsack"], problem="knapsack-60", method="map-dc")["seeds"] == 0


def test_both_kinds_of_first_weights_have_their_own_cells(tmp_path: Path) -> None:
    for init in ("random", "shared"):
        finished(tmp_path, load_grid("knapsack").spec("knapsack-60", "map-dc", init=init))
    table = knapsack(tmp_path)["q1-knapsack"]
    assert {row["init"] for row in table.rows if row["method"] == "map-dc" and row["seeds"]} == {"random", "shared"}


def test_caching_times_are_ratios_engine_by_engine(tmp_path: Path) -> None:
    grid = load_grid("knapsack")
    for method, seconds in (("spo", 8.0), ("spo-cache", 0.4)):
        finished(tmp_path, grid.spec("knapsack-60", method, options={"engine": "highs"}), epoch_seconds=seconds)
        finished(tmp_path, grid.spec("knapsack-60", method), epoch_seconds=1.0)
    table = knapsack(tmp_path)["caching-time-knapsack"]
    generic = cell(table, problem="knapsack-60", cached="spo-cache", engine="highs")
    assert (generic["ratio"], generic["published_ratio"]) == (pytest.approx(0.05), pytest.approx(0.25))
    assert (generic["seconds_cached"], generic["seconds_exact"]) == (0.4, 8.0)
    assert generic["published_cached"] == generic["published_ratio"] * generic["published_exact"]
    assert cell(table, problem="knapsack-60", cached="spo-cache", engine="oracle")["ratio"] == 1.0


def test_an_engine_that_ran_one_of_a_pair_only_has_no_ratio(tmp_path: Path) -> None:
    grid = load_grid("knapsack")
    finished(tmp_path, grid.spec("knapsack-60", "spo", options={"engine": "scip"}), epoch_seconds=8.0)
    for method in ("blackbox", "blackbox-cache"):
        finished(tmp_path, grid.spec("knapsack-60", method, options={"engine": "scip"}), epoch_seconds=2.0)
    table = knapsack(tmp_path)["caching-time-knapsack"]
    assert [(row["cached"], row["engine"], row["ratio"]) for row in table.rows] == [("blackbox-cache", "scip", 1.0)]


def test_all_eleven_tables_and_two_of_our_own_are_written_in_three_formats(tmp_path: Path) -> None:
    finished(tmp_path, load_grid("knapsack").spec("knapsack-60", "map-dc"))
    found = read_results(tmp_path)
    tables = [table for group in GROUPS for table in make_tables(load_grid(group), found)]
    write_tables(tables, tmp_path / "tables")
    assert len(list((tmp_path / "tables").iterdir())) == (11 + 2) * 4
    about = json.loads((tmp_path / "tables" / "variants-knapsack.json").read_text())
    assert about["question"] == "Q1"
    assert "1.5 x 10^5" in about["caption"]
    rows = list(csv.DictReader((tmp_path / "tables" / "q1-knapsack.csv").open()))
    assert len(rows) == 15
    assert r"\label{table:Q1_knap}" in (tmp_path / "tables" / "q1-knapsack.tex").read_text()


def test_matching_is_counted_in_the_unit_of_the_paper(tmp_path: Path) -> None:
    grid = load_grid("matching")
    for seed, lost in enumerate((37.0, 38.0)):
        finished(tmp_path, grid.spec("matching-10", "spo", seed=seed), regret=lost, auc=0.5)
    (table,) = [t for t in make_tables(grid, read_results(tmp_path)) if t.about["name"] == "sota-matching"]
    row = cell(table, problem="matching-10", method="spo", metric="regret")
    assert (row["ours"], row["published"], row["outside"]) == (3750.0, 3746.0, False)
    assert cell(table, problem="matching-10", method="spo", metric="auc")["ours"] == 0.5


def test_policies_stand_beside_each_other_budget_by_budget(tmp_path: Path) -> None:
    grid = load_grid("gaps")
    for p_solve, words, regret, solves in ((0.01, {}, 100.0, 10), (1.0, {}, 80.0, 1000),
                                           (0.01, {"policy": "largest-gap"}, 90.0, 9)):  # fmt: skip
        spec = grid.spec("knapsack-60", "map-dc", settings={"p_solve": p_solve} | words)
        finished(tmp_path, spec, regret=regret, solves=solves, lookups=1000)
    (table,) = make_tables(grid, read_results(tmp_path))
    assert [(row["policy"], row["share"]) for row in table.rows] == [
        ("coin", 0.01), ("coin", 1.0), ("largest-gap", 0.009)
    ]  # fmt: skip
    write_tables([table], tmp_path / "tables")
    text = (tmp_path / "tables" / "solves.md").read_text()
    assert "| problem | policy | 1 % | 100 % |" in text
    assert "| knapsack-60 | largest-gap | 90.0 | – |" in text


def test_values_of_the_paper_are_found_by_table() -> None:
    value = published("knapsack-60", "map-dc", "regret", ["table:Regretknapsack"])
    assert value == Published(764.0, 2.0)
    assert published("knapsack-60", "map-dc", "regret", ["table:sota-Regretknapsack"]) is None
    assert published("synthetic-knapsack-60", "map-dc", "regret", ["table:Regretknapsack"]) is None


@pytest.mark.parametrize(
    ("value", "wide"),
    [(Published(1000.0, 1.0), 30.0), (Published(1000.0, 20.0), 40.0), (Published(2.0, math.nan), 0.06)],
)
def test_tolerance_is_the_wider_of_three_per_cent_and_two_deviations(value: Published, wide: float) -> None:
    assert value.tolerance == pytest.approx(wide)
    assert value.agrees(value.mean + 0.999 * wide)
    assert not value.agrees(value.mean - 1.001 * wide)
