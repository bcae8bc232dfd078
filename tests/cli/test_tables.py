"""Tables as people have them, through the command line: dates, words, booleans, gaps and ids."""

from __future__ import annotations

import csv
import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.problem import Problem
from regretless.storage import load_state

from .files import ITEMS, CommandLine, Files, write_csv

# Costs are in reverse order here, so that nothing is matched by position.
pytestmark = pytest.mark.filterwarnings("ignore:the last rows of")
HEADER = ["day", "zone", "wind", "holiday"]


def day(i: int) -> str:
    return (dt.date(2024, 1, 1) + dt.timedelta(days=i)).isoformat()


def features(n: int = 40, first: int = 0) -> list[list[object]]:
    zones = ("north", "south")
    return [[day(first + i), zones[i % 2], i % 5, "yes" if i % 7 == 6 else "no"] for i in range(n)]


def words(files: Files, out: str = "run", **more: object) -> list[object]:
    return files.words(out, features=files.folder / "t.csv", costs=files.folder / "k.csv", id="day", **more)


@pytest.fixture
def dated(files: Files) -> Files:
    write_csv(files.folder / "t.csv", HEADER, features())
    write_csv(
        files.folder / "k.csv", ["day", *ITEMS], [[day(i), *row] for i, row in enumerate(files.costs.tolist())][::-1]
    )
    return files


def test_a_table_with_dates_words_and_ids_trains_evaluates_and_decides(dated: Files, cli: CommandLine) -> None:
    cli.ok(*words(dated))
    run = dated.folder / "run"
    encoding = json.loads((run / "encoding.json").read_text())
    assert [(column["name"], column["kind"]) for column in encoding["columns"]] == [
        ("day", "date"), ("zone", "category"), ("wind", "number"), ("holiday", "boolean"),
    ]  # fmt: skip
    new = write_csv(dated.folder / "new.csv", HEADER[::-1], [row[::-1] for row in features(3, first=60)])
    cli.ok("decide", run, "--features", new, "--out", dated.folder / "d.csv")
    with (dated.folder / "d.csv").open() as file:
        assert [row["instance"] for row in csv.DictReader(file)] == [day(60), day(61), day(62)]
    own = cli.ok("evaluate", run, "--json").json
    again = cli.ok(
        "evaluate", run, "--features", dated.folder / "t.csv", "--costs", dated.folder / "k.csv", "--json"
    ).json
    assert own["instances"] == 8
    assert again["instances"] == 40


def test_the_encoding_is_learned_from_training_rows_alone(dated: Files, cli: CommandLine) -> None:
    # The costs are in reverse order of the days: the first days are tested on.
    rows = features()
    rows[0][1] = "west"
    write_csv(dated.folder / "t.csv", HEADER, rows)
    assert "t.csv, line 2, column 'zone': 'west' was never seen in training" in cli(*words(dated)).error
    cli.ok(*words(dated, unseen="other"))
    encoding = json.loads((dated.folder / "run" / "encoding.json").read_text())
    assert encoding["columns"][1]["parts"] == ["north", "south"]


BAD = {
    "a missing date": (3, 0, "", "t.csv, line 5, column 'day': the cell is empty: every row needs a name"),
    "a text among numbers": (4, 2, "windy", "t.csv, line 6, column 'wind': expected a finite number"),
    "two rows of one id": (
        5,
        0,
        day(4),
        "t.csv, line 7, column 'day': '2024-01-05' occurs twice, first in line 6: remove",
    ),
    "an empty number": (6, 2, "", "t.csv, line 8, column 'wind': the cell is empty: fill it"),
    "a date that is none": (7, 0, "8 Jan", "1 instance of"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_refused_before_anything_is_solved_or_written(
    case: str, dated: Files, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, column, cell, said = BAD[case]
    rows = features()
    rows[row][column] = cell
    write_csv(dated.folder / "t.csv", HEADER, rows)
    attempt = Problem.attempt

    def only_of_the_check(self: Problem, *given: Any, **more: Any) -> Any:
        assert self.name == "settings check", "something was solved"  # the method is tried on two variables first
        return attempt(self, *given, **more)

    monkeypatch.setattr(Problem, "attempt", only_of_the_check)
    before = sorted(dated.folder.rglob("*"))
    assert said in cli(*words(dated)).error
    assert sorted(dated.folder.rglob("*")) == before


def test_costs_or_constraints_without_the_id_are_refused_and_not_matched_by_position(
    dated: Files, cli: CommandLine
) -> None:
    folder = dated.folder
    before = sorted(folder.rglob("*"))
    without = dated.words(features=folder / "t.csv", costs=dated.c, id="day")
    assert "c.csv, line 1: there is no column 'day', which names the rows; there are x_4" in cli(*without).error
    assert sorted(folder.rglob("*")) == before
    table = write_csv(folder / "r.csv", ["row:weight"], [[6]] * 40)
    assert "r.csv, line 1: there is no column 'day'" in cli(*words(dated, constraints=table)).error
    cli.ok(*words(dated))
    decide = (
        "decide",
        folder / "run",
        "--features",
        folder / "t.csv",
        "--constraints",
        table,
        "--out",
        folder / "d.csv",
    )
    assert "r.csv, line 1: there is no column 'day'" in cli(*decide).error


def test_one_table_with_the_column_instance_and_one_without_are_refused(files: Files, cli: CommandLine) -> None:
    write_csv(files.x, ["instance", "a"], [[i, i] for i in range(40)])
    assert "x.csv names its rows and" in cli(*files.words()).error


NEW = {
    "a missing date": (["", "north", 1, "no"], "line 2, column 'day': the cell is empty"),
    "a text among numbers": ([day(90), "north", "windy", "no"], "line 2, column 'wind': expected a finite number, got"),
    "an unknown level": ([day(90), "west", 1, "no"], "line 2, column 'zone': 'west' was never seen in training"),
    "a word that is no date": (["tomorrow", "north", 1, "no"], "line 2, column 'day': expected a date such as"),
    "an empty word": ([day(90), "", 1, "no"], "line 2, column 'zone': the cell is empty"),
}


@pytest.fixture(scope="module")
def dated_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from regretless.runs import Spec, run

    from .files import make_files

    files = make_files(tmp_path_factory.mktemp("dated"))
    write_csv(files.folder / "t.csv", HEADER, features())
    costs = write_csv(
        files.folder / "k.csv", ["day", *ITEMS], [[day(i), *row] for i, row in enumerate(files.costs.tolist())]
    )
    options = {"features": str(files.folder / "t.csv"), "costs": str(costs), "cost_variables": ["x_*"], "id": "day"}
    run(Spec(str(files.model), "two-stage", epochs=1, options=options), files.folder / "run", progress=False)
    return files.folder / "run"


@pytest.mark.parametrize("case", NEW)
def test_a_bad_new_table_is_refused_with_line_column_and_remedy(
    case: str, dated_run: Path, cli: CommandLine, tmp_path: Path
) -> None:
    row, said = NEW[case]
    new, out = write_csv(tmp_path / "new.csv", HEADER, [row]), tmp_path / "d.csv"
    assert f"new.csv, {said}" in cli("decide", dated_run, "--features", new, "--out", out).error
    assert not out.exists()


def test_an_unknown_level_may_count_as_none_of_the_known_ones(
    dated_run: Path, cli: CommandLine, tmp_path: Path
) -> None:
    new, out = write_csv(tmp_path / "new.csv", HEADER, [[day(90), "west", 1, "no"]]), tmp_path / "d.csv"
    cli.ok("decide", dated_run, "--features", new, "--out", out, "--unseen", "other")
    said = cli("decide", dated_run, "--features", new, "--out", out, "--unseen", "any").error
    assert "'--unseen'" in said
    assert "'any' is not one of 'refuse', 'other'" in said


def test_parquet_files_with_real_dates_are_the_same(dated: Files, cli: CommandLine) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(features(), columns=HEADER)
    frame = frame.assign(day=pandas.to_datetime(frame["day"]).dt.date, holiday=frame["holiday"] == "yes")
    frame.to_parquet(dated.folder / "t.parquet")
    cli.ok(*words(dated, "csv"))
    cli.ok(*dated.words("parquet", features=dated.folder / "t.parquet", costs=dated.folder / "k.csv", id="day"))
    figures = [json.loads((dated.folder / run / "metrics.json").read_text())["regret"] for run in ("csv", "parquet")]
    assert np.isclose(*figures)


def test_semicolons_and_decimal_commas_are_the_same(files: Files, cli: CommandLine) -> None:
    names = [f"d{i}" for i in range(40)]
    # The numbers of the new row alone do not show that 1,234 is not a thousand.
    tables = {
        "features": (["a", "b", "c"], np.round(files.features, 3)),
        "costs": (ITEMS, np.round(files.costs, 3)),
        "constraints": (["row:weight"], np.linspace(6, 8, 40)[:, None]),
        "new": (["a", "b", "c"], np.array([[1.234, -2.125, 1.375]])),
        "limit": (["row:weight"], np.array([[7.5]])),
    }
    decided = []
    for excel in (False, True):
        folder = files.folder / f"excel_{excel}"
        folder.mkdir()
        for name, (header, values) in tables.items():
            rows = [[which, *row] for which, row in zip(names, values.tolist(), strict=False)]
            path = write_csv(folder / f"{name}.csv", ["instance", *header], rows)
            if excel:
                path.write_text(path.read_text().replace(",", ";").replace(".", ","), encoding="utf-8-sig")
        given = {name: folder / f"{name}.csv" for name in ("features", "costs", "constraints")}
        cli.ok(*files.words(folder / "run", method="two-stage", p_solve=None, **given))
        new = ("--features", folder / "new.csv", "--constraints", folder / "limit.csv")
        cli.ok("decide", folder / "run", *new, "--out", folder / "d.csv")
        decided.append((folder / "d.csv").read_bytes())
    assert decided[0] == decided[1]
    assert decided[0].startswith(b"instance,status,")


def test_days_have_one_name_whichever_kind_of_file_they_come_from(
    dated_run: Path, cli: CommandLine, tmp_path: Path
) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(features(3), columns=HEADER)
    frame.assign(day=pandas.to_datetime(frame["day"])).to_parquet(tmp_path / "new.parquet")
    table = write_csv(tmp_path / "r.csv", ["day", "row:weight"], [[day(i), 6] for i in (2, 0, 1)])
    words = ("decide", dated_run, "--features", tmp_path / "new.parquet", "--constraints", table)
    cli.ok(*words, "--out", tmp_path / "d.csv")
    with (tmp_path / "d.csv").open() as file:
        assert [row["instance"] for row in csv.DictReader(file)] == [day(0), day(1), day(2)]


@pytest.fixture
def per_variable(files: Files) -> Files:
    """One feature per item and day; a level of its own per item."""
    size = files.costs - np.arange(5)
    rows = [[i, item, value] for i, row in enumerate(size.tolist()) for item, value in zip(ITEMS, row, strict=True)]
    write_csv(files.folder / "t.csv", ["day", "variable", "size"], rows)
    write_csv(files.folder / "k.csv", ["day", *ITEMS], [[i, *row] for i, row in enumerate(files.costs.tolist())])
    return files


@pytest.mark.parametrize("method", [pytest.param("two-stage", marks=pytest.mark.slow), None])
def test_items_with_levels_of_their_own_get_intercepts(
    method: str | None, per_variable: Files, cli: CommandLine
) -> None:
    search: dict[str, object] = {"method": method, "p_solve": None, "validation": None}
    search["epochs"] = 3 if method is None else None
    asked = ["--set", "methods=spo-cache", "--set", "folds=2"] if method is None else ["--intercepts"]
    run = per_variable.folder / "run"
    cli.ok(*words(per_variable, **search), *asked)
    weights = load_state(run / "weights.safetensors", kind="weights")
    (intercepts,) = (value for name, value in weights.items() if name.endswith("intercepts"))
    assert len(intercepts) == 5
    figures = cli.ok("evaluate", run, "--json").json
    assert figures["regret"] == json.loads((run / "metrics.json").read_text())["regret"]
    cli.ok(*words(per_variable, "shared", **search | {"method": "two-stage", "epochs": None}))
    shared = cli.ok("evaluate", per_variable.folder / "shared", "--json").json
    assert figures["regret"] < 0.5 * shared["regret"]


def test_intercepts_need_features_per_variable(files: Files, cli: CommandLine) -> None:
    with pytest.raises(AssertionError, match="intercepts are for features per variable"):
        cli.ok(*files.words(), "--intercepts")
    assert not (files.folder / "run").exists()


@pytest.mark.parametrize("word", ["NaN", "NA", "n/a", "null"])
def test_words_for_an_empty_cell_are_refused_or_filled(word: str, dated: Files, cli: CommandLine) -> None:
    rows = features()
    rows[30][1:3] = [word, word]
    write_csv(dated.folder / "t.csv", HEADER, rows)
    said = f"t.csv, line 32, column 'zone': the cell is empty ('{word}'): fill it, leave the row out, or train with"
    assert said in cli(*words(dated)).error
    cli.ok(*words(dated, missing="fill", method="two-stage", p_solve=None, epochs=1))
    encoding = json.loads((dated.folder / "run" / "encoding.json").read_text())
    assert encoding["columns"][2]["gaps"]


def test_decimal_commas_are_refused_unless_the_column_is_declared(dated: Files, cli: CommandLine) -> None:
    rows = [[*row[:2], f"{row[2]},0", row[3]] for row in features()]
    write_csv(dated.folder / "t.csv", HEADER, rows)
    said = "t.csv, line 41, column 'wind': '4,0' looks like a number: write numbers as 1234.5, or declare"
    assert said in cli(*words(dated)).error  # the costs are in reverse order, and training sees their first rows
    assert not (dated.folder / "run").exists()
    cli.ok(*words(dated, categories="wind", epochs=1))


def test_spreadsheets_train_and_decide_as_csv_files_do(dated: Files, cli: CommandLine) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")

    def as_spreadsheet(path: Path) -> Path:
        book = openpyxl.Workbook()
        with path.open() as file:
            for number, row in enumerate(csv.reader(file)):
                first: Any = dt.datetime.fromisoformat(row[0]) if number else row[0]
                book.active.append([first, *(float(c) if c[:1].isdigit() or c[:1] == "-" else c for c in row[1:])])
        book.save(path.with_suffix(".xlsx"))
        return path.with_suffix(".xlsx")

    new = write_csv(dated.folder / "new.csv", HEADER, features(3, first=60))
    for suffix, change in (("csv", lambda path: path), ("xlsx", as_spreadsheet)):
        table, costs, run = change(dated.folder / "t.csv"), change(dated.folder / "k.csv"), dated.folder / suffix
        cli.ok(*dated.words(suffix, features=table, costs=costs, id="day"))
        cli.ok("decide", run, "--features", change(new), "--out", dated.folder / f"d-{suffix}.csv")
    assert (dated.folder / "d-xlsx.csv").read_text() == (dated.folder / "d-csv.csv").read_text()
    assert (dated.folder / "xlsx" / "encoding.json").read_text() == (dated.folder / "csv" / "encoding.json").read_text()


@pytest.mark.filterwarnings("default::regretless.errors.RegretlessWarning")
def test_new_rows_far_outside_of_training_are_reported_once_and_decided(dated: Files, cli: CommandLine) -> None:
    cli.ok(*words(dated))
    rows = [[*row[:2], 1000.0 * float(str(row[2])) + 1000, row[3]] for row in features(3, first=1000)]
    new = write_csv(dated.folder / "new.csv", HEADER, rows)
    for more in ("--out", dated.folder / "d.csv"), ("--log", dated.folder / "log.db"):
        done = cli.ok("decide", dated.folder / "run", "--features", new, *more)
        (line,) = [line for line in done.err.splitlines() if line.startswith("warning")]
        said = "'wind' has 1,000 to 3,000 (in training 0 to 4, first in line 2). Are the columns and units"
        assert f"new.csv: numbers far outside of those of training: {said}" in line
    costs = write_csv(dated.folder / "real.csv", ["day", *ITEMS], [[row[0], *dated.costs[0].tolist()] for row in rows])
    again = cli.ok("retrain", dated.folder / "run", "--features", new, "--costs", costs, "--out", dated.folder / "next")
    assert "numbers far outside of those of training" in again.err
    ranges = [
        json.loads((dated.folder / run / "encoding.json").read_text())["columns"][2]["range"] for run in ("run", "next")
    ]
    assert ranges == [[0.0, 4.0], [0.0, 4.0]], "the new rows are held out"


def test_ignored_columns_are_left_out_by_every_command(dated: Files, cli: CommandLine) -> None:
    cli.ok(*words(dated))
    plain = load_state(dated.folder / "run" / "weights.safetensors", kind="weights")
    x = write_csv(dated.folder / "x2.csv", [*HEADER, "note"], [[*row, f"text {row[0]}"] for row in features()])
    rows = [[day(i), *row, sum(row)] for i, row in enumerate(dated.costs.tolist())]
    c = write_csv(dated.folder / "c2.csv", ["day", *ITEMS, "total"], rows[::-1])
    given = dated.words("both", features=x, costs=c, id="day")
    assert (
        "column 'note': 24 different words in 24 rows"
        in cli(*given[:-2], "--costs", dated.folder / "k.csv", *given[-2:]).error
    )
    assert "unknown: total; leave the column out (train --ignore total)" in cli(*given).error
    wrong = cli(*given, "--ignore", "note", "--ignore", "Total").error
    assert "no table has a column 'Total' to ignore ('total' is probably meant)" in wrong
    assert not (dated.folder / "both").exists()
    run = dated.folder / "both"
    assert (
        "(wind), 1 boolean (holiday); ignored: note, total"
        in cli.ok(*given, "--ignore", "note", "--ignore", "total").out
    )
    kept = load_state(run / "weights.safetensors", kind="weights")
    assert all(np.array_equal(kept[name], plain[name]) for name in plain)
    assert cli.ok("evaluate", run, "--features", x, "--costs", c, "--forecasts", c, "--json").json["instances"] == 40
    new = write_csv(dated.folder / "new.csv", [*HEADER, "note"], [[*row, "windy"] for row in features(3, first=60)])
    real = write_csv(
        dated.folder / "real.csv", ["day", "total", *ITEMS], [[day(60 + i), 1, *rows[i][1:6]] for i in range(3)]
    )
    for more in ("--out", dated.folder / "d.csv"), ("--log", dated.folder / "log.db"):
        cli.ok("decide", run, "--features", new, *more)
    assert cli.ok("audit", dated.folder / "log.db", "--costs", real, "--json").json["totals"]["days"] == 3
    cli.ok("retrain", run, "--features", new, "--costs", real, "--out", dated.folder / "next")
    cli.ok("decide", dated.folder / "next", "--features", new, "--out", dated.folder / "d.csv")


def test_columns_of_constraints_are_ignored_and_arrays_have_none(files: Files, cli: CommandLine) -> None:
    r = write_csv(files.folder / "r.csv", ["row:weight", "who"], [[6 + i % 2, "me"] for i in range(40)])
    assert "train with --ignore who to leave it out" in cli(*files.words(constraints=r)).error
    cli.ok(*files.words(constraints=r), "--ignore", "who")
    files_of_new = ("--features", files.x, "--constraints", r)
    for more in ("--out", files.folder / "d.csv"), ("--deadline", 5, "--out", files.folder / "d.csv"):
        cli.ok("decide", files.folder / "run", *files_of_new, *more)
    np.savez(files.folder / "x.npz", features=files.features)
    words = files.words("arrays", features=files.folder / "x.npz")
    assert "--ignore is for tables, and" in cli(*words, "--ignore", "who").error
