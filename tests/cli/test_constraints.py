"""Constraints that differ between instances, from files, through the command line."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from .files import ITEMS, WEIGHTS, CommandLine, Files, write_csv


def capacities(n: int, seed: int = 1) -> list[int]:
    return [int(value) for value in np.random.default_rng(seed).integers(3, 9, n)]


@pytest.fixture
def trained(files: Files, cli: CommandLine) -> Path:
    table = write_csv(files.folder / "r.csv", ["row:weight", "fixed:rent"], [[c, -c / 4] for c in capacities(40)])
    cli.ok(*files.words("family", constraints=table))
    return files.folder / "family"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def best_value(costs: np.ndarray, capacity: float, rent: float) -> float:
    """Brute force over all decisions."""
    box = np.array(list(np.ndindex(*[2] * 6)), dtype=float)
    allowed = box @ np.array([*WEIGHTS, -4]) <= capacity
    return float((box[allowed] @ np.array([*costs, rent])).max() + 10)


def test_decisions_keep_constraints_that_training_never_saw(files: Files, cli: CommandLine, trained: Path) -> None:
    new = [11, 0, 4.5]
    features = write_csv(files.folder / "new.csv", ["c", "a", "b"], [[0.1, 0.2, 0.3]] * 3)
    table = write_csv(files.folder / "new_r.csv", ["row:weight", "fixed:rent"], [[c, -1] for c in new])
    out = files.folder / "d.csv"
    cli.ok("decide", trained, "--features", features, "--constraints", table, "--out", out)
    for row, capacity in zip(rows_of(out), new, strict=True):
        x = np.array([float(row[f"decision:{name}"]) for name in [*ITEMS, "rent"]])
        assert x @ np.array([*WEIGHTS, -4]) <= capacity + 1e-6
        predicted = np.array([float(row[f"predicted:{name}"]) for name in ITEMS])
        assert float(row["objective"]) == pytest.approx(best_value(predicted, capacity, -1))
    said = cli.ok("decide", trained, "--features", features, "--out", out).err
    assert said.startswith("note: the run was trained with constraints per instance")
    named = write_csv(files.folder / "named.csv", ["instance", "c", "a", "b"], [["monday", 0.1, 0.2, 0.3]])
    assert cli.ok("decide", trained, "--features", named, "--log", files.folder / "d.db").err == said
    assert cli.ok("decide", trained, "--features", features, "--model", files.model, "--out", out).err == ""
    predicted = np.array([float(rows_of(out)[0][f"predicted:{name}"]) for name in ITEMS])
    assert float(rows_of(out)[0]["objective"]) == pytest.approx(best_value(predicted, 6, -2))


def test_evaluation_takes_constraints(files: Files, cli: CommandLine, trained: Path) -> None:
    own = cli.ok("evaluate", trained, "--json").json
    where = slice(32, None)
    x = write_csv(files.folder / "x2.csv", ["a", "b", "c"], files.features[where].tolist())
    c = write_csv(files.folder / "c2.csv", ITEMS, files.costs[where].tolist())
    r = write_csv(files.folder / "r2.csv", ["row:weight", "fixed:rent"], [[k, -k / 4] for k in capacities(40)[where]])
    words = ("evaluate", trained, "--features", x, "--costs", c, "--json")
    assert cli.ok(*words, "--constraints", r).json["regret"] == pytest.approx(own["regret"])
    assert "trained with constraints per instance: give those of" in cli(*words).error
    retrained = ("retrain", trained, "--features", x, "--costs", c, "--out", files.folder / "new")
    assert "trained with constraints per instance: give those of" in cli(*retrained).error
    assert not (files.folder / "new").exists()
    assert "give --features and --costs" in cli("evaluate", trained, "--constraints", r).error


def test_a_run_without_constraints_decides_with_them_and_with_another_model(files: Files, cli: CommandLine) -> None:
    cli.ok(*files.words())
    features = write_csv(files.folder / "new.csv", ["a", "b", "c"], [[0.1, 0.2, 0.3]])
    table, out = write_csv(files.folder / "r.csv", ["row:weight"], [[0]]), files.folder / "d.csv"
    words = ("decide", files.folder / "run", "--features", features, "--out", out)
    cli.ok(*words, "--constraints", table)
    predicted = np.array([float(rows_of(out)[0][f"predicted:{name}"]) for name in ITEMS])
    assert float(rows_of(out)[0]["objective"]) == pytest.approx(best_value(predicted, 0, -2))
    tomorrow = files.folder / "tomorrow.lp"
    tomorrow.write_text(files.model.read_text().replace("<= 6", "<= 8\n extra: rent + late <= 0"))
    cli.ok(*words, "--model", tomorrow)
    assert rows_of(out)[0]["decision:late"] == "0"
    assert float(rows_of(out)[0]["objective"]) == pytest.approx(best_value(predicted, 8, -1e9))
    tomorrow.write_text(files.model.read_text().replace("x_3", "z_3"))
    assert "must have the cost variables of the run: no variable of the model matches 'x_3'" in (
        cli(*words, "--model", tomorrow).error
    )
    tomorrow.write_text(files.model.read_text().replace("maximize", "minimize"))
    assert "must be 'max' as in the run, got 'min'" in cli(*words, "--model", tomorrow).error


@pytest.mark.parametrize(
    ("header", "rows", "said"),
    [
        ("row:wait", [[5]] * 40, "r.csv, line 1, column 'row:wait': the model has no row 'wait'"),
        ("upper:x_0", [[1]] * 39 + [[-1]], "r.csv, line 41, column 'upper:x_0': no value lies between"),
        ("row:weight", [[5]] * 39, "r.csv has 39 instances and"),
    ],
)
def test_a_bad_table_of_constraints_leaves_nothing_behind(
    header: str, rows: list[list[float]], said: str, files: Files, cli: CommandLine
) -> None:
    table = write_csv(files.folder / "r.csv", [header], rows)
    before = sorted(files.folder.rglob("*"))
    assert said in cli(*files.words("bad", constraints=table)).error
    assert sorted(files.folder.rglob("*")) == before
