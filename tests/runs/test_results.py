from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.runs import Spec
from regretless.runs.results import (
    COLUMNS,
    mean_and_deviation,
    of_one_init,
    read_results,
    register,
    select,
    write_results,
)
from regretless.runs.run_folder import keep_failure, run_path

from ..paper.folders import finished

ASKED = [
    "problem", "method", "p_solve", "seed", "init", "status", "regret", "relative_regret", "mse", "auc", "epochs",
    "epoch_seconds", "solver_seconds", "solves", "lookups", "cache_size",
]  # fmt: skip


def spec(method: str = "map-dc", seed: int = 0, **fields: object) -> Spec:
    return Spec("synthetic-knapsack-60", method, seed=seed, **fields)  # type: ignore[arg-type]


def rows(folder: Path) -> list[dict[str, str]]:
    write_results(read_results(folder), folder / "results.csv")
    return list(csv.DictReader((folder / "results.csv").open()))


def test_results_have_one_row_a_run_with_the_promised_columns_first(tmp_path: Path) -> None:
    finished(tmp_path, spec(), regret=12.5)
    (row,) = rows(tmp_path)
    assert list(row)[: len(ASKED)] == ASKED
    assert list(row) == list(COLUMNS)
    assert (row["regret"], row["p_solve"], row["status"], row["auc"]) == ("12.5", "0.05", "done", "")


def test_failed_and_missing_runs_are_rows_too(tmp_path: Path) -> None:
    register(tmp_path, [spec(seed=0), spec(seed=1)])
    keep_failure(run_path(tmp_path, spec(seed=1)), spec(seed=1), "ValueError: no such luck")
    assert [(row["status"], row["error"]) for row in rows(tmp_path)] == [
        ("pending", ""),
        ("failed", "ValueError: no such luck"),
    ]


def test_order_of_rows_does_not_depend_on_the_order_of_runs(tmp_path: Path) -> None:
    specs = [spec("map-dc", 1), spec("two-stage", 0), spec("map-dc", 0), spec("map-dc", 0, settings={"p_solve": 1.0})]
    for i, order in enumerate((specs, specs[::-1])):
        for one in order:
            finished(tmp_path / str(i), one)
    assert rows(tmp_path / "0") == rows(tmp_path / "1")
    assert [(r["method"], r["p_solve"], r["seed"]) for r in rows(tmp_path / "0")] == [
        ("two-stage", "", "0"), ("map-dc", "0.05", "0"), ("map-dc", "0.05", "1"), ("map-dc", "1.0", "0"),
    ]  # fmt: skip


def test_a_later_run_of_the_same_cell_and_seed_takes_its_place(tmp_path: Path) -> None:
    finished(tmp_path, spec(epochs=1), regret=99.0)
    finished(tmp_path, spec(epochs=20), regret=11.0)
    assert [row["regret"] for row in rows(tmp_path)] == ["11.0"]


def test_a_search_among_other_methods_or_from_another_start_takes_no_other_place(tmp_path: Path) -> None:
    kinds: list[dict[str, object]] = [
        {}, {"settings": {"methods": ["spo"]}}, {"settings": {"methods": ["spo"], "committee": 1}},
        {"settings": {"methods": ["map-dc"]}}, {"start": "random"},
    ]  # fmt: skip
    for kind in kinds:
        for epochs in (0, 5):
            finished(tmp_path, spec("auto", epochs=epochs, **kind))
    found = [result.spec for result in read_results(tmp_path)]
    assert sorted(one.digest for one in found) == sorted(spec("auto", epochs=5, **kind).digest for kind in kinds)


def test_select_keeps_engines_options_and_shares_apart(tmp_path: Path) -> None:
    finished(tmp_path, spec(seed=0), regret=1.0)
    finished(tmp_path, spec(seed=1), regret=3.0)
    finished(tmp_path, spec(settings={"p_solve": 1.0}), regret=50.0)
    finished(tmp_path, spec(options={"engine": "highs"}), regret=60.0)
    finished(tmp_path, spec(options={"days": 50}), regret=70.0)
    finished(tmp_path, spec(init="shared"), regret=80.0)
    found = read_results(tmp_path)
    assert mean_and_deviation(of_one_init(select(found, spec())), "regret") == (2.0, pytest.approx(2**0.5))
    assert [r.figures["regret"] for r in select(found, spec(), engine="highs")] == [60.0]


def test_a_folder_without_results_is_an_error_that_says_how_to_make_some(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="regretless reproduce"):
        read_results(tmp_path)
    (tmp_path / "grid.json").write_text(json.dumps({})[:-1])
    with pytest.raises(FileError, match=r"grid\.json"):
        read_results(tmp_path)


@pytest.mark.parametrize("content", ["99999999999999999999", "[]", '"text"', "null"])
def test_a_grid_file_that_is_no_object_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "grid.json").write_text(content)
    for read in (lambda: read_results(tmp_path), lambda: register(tmp_path, [])):
        with pytest.raises(FileError, match=r"grid\.json must hold a JSON object"):
            read()
