from __future__ import annotations

import csv
import dataclasses
import itertools
import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regretless.deciding import Decider
from regretless.deciding.decision import Decision
from regretless.problem import Problem
from regretless.types import Decisions, Status

from .files import ITEMS, MODEL, WEIGHTS, CommandLine, Files, write_csv


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
    out.write_text("instance,status,objective\n")
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
    assert out.read_text() == "instance,status,objective\n"


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


def days(folder: Path, trained: Files, n: int = 20) -> Path:
    rows = [[f"day {i}", *row] for i, row in enumerate(trained.features[:n].tolist())]
    return write_csv(folder / "days.csv", ["instance", "a", "b", "c"], rows)


def test_decisions_are_logged_once_and_said_after_the_commit(
    cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    run, log = trained_files.folder / "run", tmp_path / "d.db"
    words = ("decide", run, "--features", days(tmp_path, trained_files), "--log", log)
    said = cli.ok(*words).out
    assert f"16 of 20 instances are in {log}\n20 of 20 instances are in {log}\n" in said
    assert "(20 new)" in said
    assert "(0 new)" in cli.ok(*words).out
    assert sqlite3.connect(log).execute("SELECT count(*) FROM decisions").fetchone() == (20,)


def test_a_day_in_another_form_is_logged_once_and_written_as_it_was_given(
    cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    for form, new in (("2024-01-3{}", 2), ("3{}.01.2024", 0)):
        rows = [[form.format(i), *row] for i, row in enumerate(trained_files.features[:2].tolist())]
        x = write_csv(tmp_path / "x.csv", ["instance", "a", "b", "c"], rows)
        words = ("--features", x, "--log", tmp_path / "d.db", "--out", tmp_path / "d.csv")
        assert f"({new} new)" in cli.ok("decide", trained_files.folder / "run", *words).out
        assert [row["instance"] for row in rows_of(tmp_path / "d.csv")] == [form.format(0), form.format(1)]


def test_an_interrupted_command_keeps_its_decisions_and_continues(
    cli: CommandLine, trained_files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, log = trained_files.folder / "run", tmp_path / "d.db"
    words = ("decide", run, "--features", days(tmp_path, trained_files), "--log", log, "--workers", 1)
    decide, names = Decider.decide, iter(range(20))

    def interrupted(*given: Any, **how: Any) -> Decision:
        if next(names) == 18:
            raise KeyboardInterrupt
        return decide(*given, **how)

    with monkeypatch.context() as patch:
        patch.setattr(Decider, "decide", interrupted)
        result = cli(*words)
    assert result.code == 130
    assert result.err == f"interrupted: {log} keeps the decisions made so far, and the same command continues\n"
    assert "(2 new)" in cli.ok(*words).out


def test_slow_decisions_without_a_log_are_counted(
    cli: CommandLine, trained_files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, out = days(tmp_path, trained_files), tmp_path / "d.csv"
    words = ("decide", trained_files.folder / "run", "--features", x, "--deadline", 60, "--out", out)
    assert "decided" not in cli.ok(*words).out
    monkeypatch.setattr("regretless.progress.DELAY", 0.0)
    assert re.search(r"^16 of 20 instances are decided \(\d+ s left\)$", cli.ok(*words).out, re.MULTILINE)


def test_a_log_and_a_file_hold_the_decisions_of_the_plain_command(
    cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    run, x = trained_files.folder / "run", days(tmp_path, trained_files)
    cli.ok("decide", run, "--features", x, "--out", tmp_path / "plain.csv")
    said = cli.ok(
        "decide", run, "--features", x, "--out", tmp_path / "logged.csv", "--log", tmp_path / "d.db", "--json"
    ).json
    assert (said["instances"], said["new_in_log"], said["found"]) == (20, 20, {"solved": 20})
    plain, logged = rows_of(tmp_path / "plain.csv"), rows_of(tmp_path / "logged.csv")
    for one, other in zip(plain, logged, strict=True):
        # Batches of other sizes round the predictions differently.
        assert float(one["objective"]) == pytest.approx(float(other["objective"]), rel=1e-6)
        assert (other["found"], other["gap"], other["instance"]) == ("solved", "0", one["instance"])


def test_with_a_deadline_every_instance_says_how_it_was_found(
    cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    run, out = trained_files.folder / "run", tmp_path / "d.npz"
    cli.ok("decide", run, "--features", days(tmp_path, trained_files), "--deadline", 20, "--out", out)
    with np.load(out) as arrays:
        assert arrays["found"].tolist() == ["solved"] * 20


def test_constraints_are_logged_and_an_infeasible_instance_is_an_error(
    cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    run, x = trained_files.folder / "run", days(tmp_path, trained_files, 2)
    limits = write_csv(tmp_path / "r.csv", ["instance", "row:weight"], [["day 1", -9], ["day 0", 3]])
    result = cli("decide", run, "--features", x, "--constraints", limits, "--log", tmp_path / "d.db")
    assert result.code == 1
    assert "1 of 2 instances (day 1) have no feasible decision" in result.err
    rows = sqlite3.connect(tmp_path / "d.db").execute("SELECT instance, constraints, found FROM decisions ORDER BY id")
    assert rows.fetchall() == [
        ("day 0", '{"row:weight": 3.0}', "solved"), ("day 1", '{"row:weight": -9.0}', "infeasible"),
    ]  # fmt: skip


def test_what_is_wrong_is_said_before_anything_is_solved_or_written(
    cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    run, x, log = trained_files.folder / "run", days(tmp_path, trained_files), tmp_path / "d.db"
    assert "give --out" in cli("decide", run, "--features", x).error
    for word, message in ((0, "positive"), (-1, "positive")):
        assert message in cli("decide", run, "--features", x, "--log", log, "--deadline", word).error
    both = ("--log", log, "--deadline", 1, "--time-limit", 1)
    assert "leave --time-limit out" in cli("decide", run, "--features", x, *both).error
    limits = write_csv(tmp_path / "r.csv", ["instance", "row:wait"], [["day 0", 3]])
    assert "row:wait" in cli("decide", run, "--features", x, "--constraints", limits, "--log", log).error
    bad = write_csv(tmp_path / "bad.csv", ["instance", "a", "b"], [["day 0", 1, 2]])
    assert "missing: c" in cli("decide", run, "--features", bad, "--log", log).error
    unnamed = write_csv(tmp_path / "unnamed.csv", ["a", "b", "c"], [[1, 2, 3]])
    assert "--log needs the column or array 'instance'" in cli("decide", run, "--features", unnamed, "--log", log).error
    assert not log.exists()
    log.write_text("not a database" * 100)
    assert "d.db" in cli("decide", run, "--features", x, "--log", log).error
    assert log.read_text() == "not a database" * 100


def test_a_named_problem_has_no_log(cli: CommandLine, tmp_path: Path) -> None:
    words = ("train", "synthetic-knapsack-60", "--option", "days=20", "--method", "map-dc", "--epochs", 1)
    cli.ok(*words, "--out", tmp_path / "run")
    np.savez(tmp_path / "x.npz", features=np.zeros((2, 48, 8)))
    words = ("decide", tmp_path / "run", "--features", tmp_path / "x.npz", "--log", tmp_path / "d.db")
    assert "for runs on model files" in cli(*words).error
    assert not (tmp_path / "d.db").exists()


@pytest.mark.parametrize("more", [("--log", "d.db"), ("--deadline", "20")])
def test_another_model_may_have_other_variables(
    more: tuple[str, str], cli: CommandLine, trained_files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tomorrow.lp").write_text(MODEL.replace("<= 6", "<= 8\n extra: rent + late <= 0"))
    x = days(tmp_path, trained_files, 3)
    words = ("decide", trained_files.folder / "run", "--features", x, "--model", "tomorrow.lp", "--out")
    cli.ok(*words, "plain.csv")
    cli.ok(*words, "d.csv", *more)
    for one, other in zip(rows_of(Path("plain.csv")), rows_of(Path("d.csv")), strict=True):
        assert other["decision:late"] == "0"
        assert float(one["objective"]) == pytest.approx(float(other["objective"]), rel=1e-6)
