from __future__ import annotations

import csv
import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest
import torch

from regretless.problem import Problem
from regretless.types import Decisions, Status

from .files import ITEMS, WEIGHTS, CommandLine, Files, write_csv


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_decisions_come_by_variable_name_and_need_no_original_file(
    cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    out = tmp_path / "decisions.csv"
    printed = cli.ok("decide", trained_files.folder / "run", "--features", trained_files.x, "--out", out)
    assert "40 instances (40 optimal)" in printed.out
    rows = rows_of(out)
    assert [row["instance"] for row in rows] == [str(i) for i in range(40)]
    for row in rows[:5]:
        taken = [int(row[f"decision:{name}"]) for name in ITEMS]
        rent = int(row["decision:rent"])
        assert sum(w * x for w, x in zip(WEIGHTS, taken, strict=True)) <= 6 + 4 * rent
        predicted = [float(row[f"predicted:{name}"]) for name in ITEMS]
        value = sum(c * x for c, x in zip(predicted, taken, strict=True)) - 2 * rent + 10
        assert float(row["objective"]) == pytest.approx(value)


def test_columns_of_features_are_matched_by_name(cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    run, a, b = trained_files.folder / "run", tmp_path / "a.csv", tmp_path / "b.csv"
    cli.ok("decide", run, "--features", trained_files.x, "--out", a)
    turned = write_csv(tmp_path / "turned.csv", ["c", "a", "b"], trained_files.features[:, [2, 0, 1]].tolist())
    cli.ok("decide", run, "--features", turned, "--out", b)
    assert a.read_text() == b.read_text()
    named = write_csv(
        tmp_path / "n.csv", ["instance", "a", "b", "c"], [["=2+5", *row] for row in trained_files.features[:1].tolist()]
    )
    cli.ok("decide", run, "--features", named, "--out", b)
    assert rows_of(b)[0]["instance"] == "=2+5"


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_other_files_hold_the_same_numbers(ending: str, cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    run, a, b = trained_files.folder / "run", tmp_path / "a.csv", tmp_path / f"b.{ending}"
    cli.ok("decide", run, "--features", trained_files.x, "--out", a)
    assert cli.ok("decide", run, "--features", trained_files.x, "--out", b, "--json").json["without_decision"] == 0
    expected = [float(row["decision:x_3"]) for row in rows_of(a)]
    if ending == "npz":
        with np.load(b) as arrays:
            column = arrays["variable_names"].tolist().index("x_3")
            assert arrays["decision"][:, column].tolist() == expected
            assert arrays["status"].tolist() == ["optimal"] * 40
    else:
        pandas = pytest.importorskip("pandas")
        assert pandas.read_parquet(b)["decision:x_3"].tolist() == expected


def test_a_named_problem_decides_on_arrays(cli: CommandLine, tmp_path: Path) -> None:
    run = tmp_path / "run"
    cli.ok("train", "synthetic-knapsack-60", "--option", "days=40", "--method", "map-dc", "--epochs", 1, "--out", run)
    np.savez(tmp_path / "x.npz", features=np.zeros((2, 48, 8)))
    cli.ok("decide", run, "--features", tmp_path / "x.npz", "--out", tmp_path / "d.csv")
    assert len(rows_of(tmp_path / "d.csv")) == 2
    np.savez(tmp_path / "x.npz", features=np.zeros((2, 48, 7)))
    error = cli("decide", run, "--features", tmp_path / "x.npz", "--out", tmp_path / "d.csv").error
    assert "'features' must have shape (n, 48, 8), got (2, 48, 7)" in error
    np.savez(tmp_path / "c.npz", costs=np.ones((2, 48)))
    np.savez(tmp_path / "x.npz", features=np.zeros((2, 48, 8)))
    figures = cli.ok("evaluate", run, "--features", tmp_path / "x.npz", "--costs", tmp_path / "c.npz", "--json").json
    assert figures["instances"] == 2


def test_what_is_wrong_is_one_line_and_the_old_file_stays(
    cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    run, out = trained_files.folder / "run", tmp_path / "d.csv"
    out.write_text("before")
    x = write_csv(tmp_path / "x.csv", ["a", "b", "z"], trained_files.features.tolist())
    error = cli("decide", run, "--features", x, "--out", out).error
    assert "missing: c; unknown: z" in error
    x = write_csv(tmp_path / "x.csv", ["a", "b", "C"], trained_files.features.tolist())
    assert "unknown: C; 'C' is probably 'c'" in cli("decide", run, "--features", x, "--out", out).error
    x = write_csv(tmp_path / "x.csv", ["instance", "variable", "a", "b", "c"], [["i", "x_0", 1, 2, 3]])
    assert "has no row for the variable 'x_1'" in cli("decide", run, "--features", x, "--out", out).error
    np.savez(tmp_path / "x.npz", features=np.array([{}]))
    assert "without pickle" in cli("decide", run, "--features", tmp_path / "x.npz", "--out", out).error
    assert "must end in" in cli("decide", run, "--features", trained_files.x, "--out", tmp_path / "d.xlsx").error
    assert "is no run" in cli("decide", tmp_path / "none", "--features", trained_files.x, "--out", out).error
    below = out / "d.csv"
    assert "cannot write" in cli("decide", run, "--features", trained_files.x, "--out", below).error
    assert "it is a folder" in cli("decide", run, "--features", trained_files.x, "--out", _folder(tmp_path)).error
    assert out.read_text() == "before"


def _folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    return folder


def test_an_instance_without_a_decision_is_told(
    cli: CommandLine, trained_files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, batches = Problem.solve, itertools.count()

    def fails_first(self: Problem, costs: torch.Tensor, instance: object = None) -> Decisions:
        found = whole(self, costs, instance)
        if next(batches):
            return found
        found.decision[0] = found.objective[0] = float("nan")
        return dataclasses.replace(found, status=[Status.TIME_LIMIT, *found.status[1:]])

    monkeypatch.setattr(Problem, "solve", fails_first)
    out = tmp_path / "d.csv"
    result = cli("decide", trained_files.folder / "run", "--features", trained_files.x, "--out", out)
    assert "1 of 40 instances (0) have no decision" in result.error
    assert "39 optimal" in result.out
    first = rows_of(out)[0]
    assert (first["status"], first["objective"], first["decision:rent"]) == ("time limit", "", "")
    assert first["predicted:x_0"] != ""


def test_a_damaged_run_is_named(cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for path in (trained_files.folder / "run").iterdir():
        (run / path.name).write_bytes(path.read_bytes())
    content = (run / "problem.safetensors").read_bytes()
    (run / "problem.safetensors").write_bytes(content[:-8])
    error = cli("decide", run, "--features", trained_files.x, "--out", tmp_path / "d.csv").error
    assert "problem.safetensors" in error
    (run / "problem.safetensors").unlink()
    more = "--constraints", trained_files.c, "--out", tmp_path / "d.csv"
    assert "problem.safetensors" in cli("decide", run, "--features", trained_files.x, *more).error
    (run / "problem.safetensors").write_bytes(content)
    (run / "weights.safetensors").unlink()
    error = cli("decide", run, "--features", trained_files.x, "--out", tmp_path / "d.csv").error
    assert "is not finished" in error
