from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from regretless.cli.show import (
    columns_line,
    number,
    print_json,
    print_ledger,
    print_table,
    warn_of_idle_workers,
    warn_of_inexact,
)
from regretless.runs import Spec
from regretless.tables.encoded_column import Column

from ..terminal import wide_terminal
from .files import CommandLine, Files, write_csv


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (math.nan, "-"),
        (12345.6, "12,346"),
        (0.123456, "0.1235"),
        (123456, "123,456"),
        (True, "True"),
        ("a", "a"),
    ],
)
def test_numbers_are_written_the_way_a_person_reads_them(value: object, text: str) -> None:
    assert number(value) == text


def test_json_is_strict(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": math.nan, "b": [math.inf, 1.5], "c": {"d": -math.inf}})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.5], "c": {"d": None}}


def test_titles_stay_whole_and_brackets_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("a title that is much longer than its table", ("name", "value"), [("x[0]", 1.0), ("[red]y", 2.0)])
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == "a title that is much longer than its table"
    assert "x[0]" in printed
    assert "[red]y" in printed


TEXT = "one long text of words that no narrow table has room for on a single line of its own"
ROW = ("a name of middling length", 1.5, 2.5, "a second name that is long", TEXT)


def test_nothing_is_cut_off_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    print_table("title", ("the name", "regret", "objective", "other", "text"), [ROW])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert all(str(cell) in lines[-2] for cell in ROW)


@pytest.mark.parametrize(("kind", "columns"), [("xterm", 60), ("xterm", 100), ("dumb", 60)])
def test_a_narrow_terminal_wraps_and_loses_nothing(kind: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = wide_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", kind)
    monkeypatch.setattr("sys.stdout", terminal)
    print_table("title", ("the name", "regret", "objective", "other", "text"), [ROW])
    lines = terminal.text.splitlines()[1:]
    assert len({len(line) for line in lines}) == 1
    assert all(line[-1] in "┓┃┩│┘" for line in lines)
    cells = [line.split("│")[-2].strip() for line in lines if "│" in line]
    assert " ".join(cells) == TEXT
    assert all(str(cell) in terminal.text for cell in ROW[:-1])


def test_figures_that_are_not_exact_are_told_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    warn_of_inexact({"not_optimal": 3, "cut_short": 0, "failed": 1, "regret": 5.0})
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "warning: 3 labels that were not solved to optimality: the regret is only a bound there",
        "warning: 1 instances whose solve failed: those are left out of the regret",
    ]
    warn_of_inexact({"not_optimal": 0})
    assert capsys.readouterr().err == ""


def test_threads_that_cannot_help_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    own, engine = Spec("knapsack-60", "spo"), Spec("knapsack-60", "spo", options={"engine": "highs"})
    for spec, workers in ((own, 1), (engine, 2), (Spec("m.lp", "spo"), 2)):
        warn_of_idle_workers(spec, workers)
    assert capsys.readouterr().err == ""
    warn_of_idle_workers(own, 2)
    assert "--workers has no effect: the oracle of knapsack-60" in capsys.readouterr().err


def test_a_run_without_a_ledger_prints_none(capsys: pytest.CaptureFixture[str]) -> None:
    print_ledger(None)
    assert capsys.readouterr().out == ""
    print_ledger({"labels": {"solves": 5, "seconds": 1.0}})
    assert capsys.readouterr().out == "solves: labels 5 (1.0 s)\n"


def test_kinds_are_counted_and_columns_named() -> None:
    columns = (Column("zone", "category"), Column("kind", "category"), *(Column(f"n{i}", "number") for i in range(7)))
    assert columns_line(columns) == "features: 2 categories (zone, kind), 7 numbers (n0, n1, n2, n3, n4 and 2 more)"


def test_training_says_how_it_read_each_column_but_not_in_json(files: Files, cli: CommandLine) -> None:
    rows = [[i % 5, "north" if i % 2 else "south"] for i in range(40)]
    write_csv(files.x, ["wind", "zone"], rows)
    words = {"method": "two-stage", "p_solve": None, "epochs": 1}
    assert "\nfeatures: 1 number (wind), 1 category (zone)\n" in cli.ok(*files.words(**words)).out
    assert "two_stage_regret" in cli.ok(*files.words("again", **words), "--json").json


def test_arrays_have_no_columns_to_name(files: Files, cli: CommandLine, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", features=files.features)
    words = {"method": "two-stage", "p_solve": None, "epochs": 1, "features": tmp_path / "x.npz"}
    assert "features:" not in cli.ok(*files.words(**words)).out
