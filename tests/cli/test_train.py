from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.solvers.pool import EnginePool
from regretless.storage import load_state
from regretless.training import two_stage

from .files import ITEMS, MODEL, CommandLine, Files, write_csv


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_named_problem_trains_and_keeps_its_run(cli: CommandLine, tmp_path: Path) -> None:
    words = ["train", "synthetic-knapsack-60", "--option", "days=40", "--epochs", 1, "--out", tmp_path / "run"]
    printed = cli.ok(*words)
    assert "test figures" in printed.out
    assert "run kept in" in printed.out
    assert "solves: " in printed.out
    figures = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert (figures["on"], figures["epochs"]) == ("test", 1)
    assert "there is a run in" in cli(*words).error
    assert cli.ok(*words, "--resume", "--json").json["regret"] == figures["regret"]


@pytest.mark.parametrize(("words", "watched"), [([], 2 * 9), (["--no-watch"], 0)])
def test_the_test_data_are_solved_after_every_epoch_unless_this_is_switched_off(
    words: list[str], watched: int, cli: CommandLine, tmp_path: Path
) -> None:
    base = ["train", "synthetic-knapsack-60", "--method", "map-dc", "--option", "days=40", "--epochs", 2, "--json"]
    ledger = cli.ok(*base, *words, "--out", tmp_path / "run").json["ledger"]
    assert ledger["watching"]["solves"] == watched
    assert ("test_regret" in (tmp_path / "run" / "history.csv").read_text()) == bool(watched)


@pytest.mark.parametrize("resume", [[], ["--resume"]])
def test_a_folder_that_a_refused_command_of_an_older_version_left_is_used(
    resume: list[str], cli: CommandLine, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "spec.json").write_text(json.dumps({"settings": {"temprature": 1}}))
    (run / "environment.json").write_text("{}")
    (run / ".lock").write_text("")
    words = ["train", "synthetic-knapsack-60", "--method", "spo", "--option", "days=40", "--epochs", 1, "--out", run]
    figures = cli.ok(*words, *resume, "--json").json
    assert figures["status"] == "done"
    assert json.loads((run / "spec.json").read_text())["settings"] == {}


def test_threads_that_cannot_help_are_told(cli: CommandLine, tmp_path: Path) -> None:
    words = ["train", "synthetic-knapsack-60", "--method", "spo", "--option", "days=40", "--epochs", 1, "--workers", 2]
    assert "--workers has no effect" in cli.ok(*words, "--out", tmp_path / "run").err


def test_a_generated_problem_takes_the_options_of_its_formula(cli: CommandLine, tmp_path: Path) -> None:
    sizes = ["--option", "train=30", "--option", "test=10", "--option", "validation=10"]
    words = ["train", "shortest-path", *sizes, "--option", "deg=6", "--method", "map-dc", "--epochs", 2]
    assert cli.ok(*words, "--out", tmp_path / "run", "--json").json["instances"] == 10
    assert json.loads((tmp_path / "run" / "spec.json").read_text())["options"]["deg"] == 6
    assert (
        "'deg' of problem 'shortest-path' must be an integer"
        in cli(*words, "--option", "deg=1.5", "--out", tmp_path / "no").error
    )
    assert not (tmp_path / "no").exists()


def test_a_model_file_trains_on_csv_and_says_how_good_it_is(cli: CommandLine, files: Files) -> None:
    figures = cli.ok(*files.words(epochs=15), "--json").json
    assert (figures["on"], figures["instances"], figures["failed"]) == ("test", 8, 0)
    assert 0 <= figures["relative_regret"] < 0.05
    run = files.folder / "run"
    assert {"problem.safetensors", "weights.safetensors", "metrics.json", "spec.json"} <= set(os.listdir(run))
    header = (run / "history.csv").read_text().splitlines()[0]
    assert "validation_regret" in header
    assert "test_regret" in header


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(cli: CommandLine, files: Files) -> None:
    for out, seed in (("a", 0), ("b", 0), ("c", 1)):
        cli.ok(*files.words(out, seed=seed))
    a, b, c = (load_state(files.folder / out / "weights.safetensors", kind="weights") for out in "abc")
    assert all(np.array_equal(a[name], b[name]) for name in a)
    assert any(not np.array_equal(a[name], c[name]) for name in a)


def test_the_scale_of_features_is_that_of_the_training_part(cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words())
    weights = load_state(files.folder / "run" / "weights.safetensors", kind="weights")
    mean = next(value for name, value in weights.items() if name.endswith("inner.mean"))
    assert np.allclose(mean, files.features[:24].mean(axis=0), atol=1e-5)


@pytest.mark.parametrize("ending", ["parquet", "npz"])
def test_every_kind_of_file_gives_the_same_weights(ending: str, cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words("csv"))
    x, c = files.folder / f"x.{ending}", files.folder / f"c.{ending}"
    if ending == "npz":
        np.savez(x, features=files.features)
        np.savez(c, costs=files.costs[:, ::-1], cost_names=np.array(ITEMS[::-1]))
    else:
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pandas.read_csv(files.x, float_precision="round_trip").to_parquet(x)
        pandas.read_csv(files.c, float_precision="round_trip").to_parquet(c)
    cli.ok(*files.words("other", features=x, costs=c))
    a, b = (load_state(files.folder / out / "weights.safetensors", kind="weights") for out in ("csv", "other"))
    assert all(np.array_equal(a[name], b[name]) for name in a)


def test_features_of_variables_share_one_small_model(cli: CommandLine, files: Files) -> None:
    rows = [
        [f"day {i}", name, files.costs[i, j] + 0.1, files.features[i, 0]]
        for i in range(40)
        for j, name in enumerate(ITEMS)
    ]
    long = write_csv(files.folder / "long.csv", ["instance", "variable", "hint", "a"], rows)
    named = [[f"day {i}", *row] for i, row in enumerate(files.costs.tolist())]
    costs = write_csv(files.folder / "c2.csv", ["instance", *ITEMS], named)
    cli.ok(*files.words(features=long, costs=costs, epochs=5))
    weights = load_state(files.folder / "run" / "weights.safetensors", kind="weights")
    assert sorted(tuple(value.shape) for name, value in weights.items() if "0." in name) == [(1,), (1, 2)]
    cube = files.folder / "cube.npz"
    np.savez(cube, np.stack([files.costs + 0.1, np.repeat(files.features[:, :1], 5, axis=1)], axis=2))
    cli.ok(*files.words("cube", features=cube, epochs=5))
    again = load_state(files.folder / "cube" / "weights.safetensors", kind="weights")
    assert all(np.allclose(weights[name], again[name], atol=1e-6) for name in weights)


def test_instances_are_matched_by_name(cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words("plain"))
    order = np.random.default_rng(1).permutation(40)
    named = [[f"i{i}", *files.features[i].tolist()] for i in order]
    x = write_csv(files.folder / "x2.csv", ["instance", "a", "b", "c"], named)
    rows = [[f"i{i}", *files.costs[i].tolist()] for i in range(40)]
    c = write_csv(files.folder / "c2.csv", ["instance", *ITEMS], rows)
    cli.ok(*files.words("named", features=x, costs=c))
    a, b = (load_state(files.folder / out / "weights.safetensors", kind="weights") for out in ("plain", "named"))
    assert all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize(
    ("shares", "on"), [({"test": None}, "validation"), ({"test": None, "validation": None}, "train")]
)
def test_figures_without_test_data_say_what_they_are_on(
    shares: dict[str, None], on: str, cli: CommandLine, files: Files
) -> None:
    printed = cli.ok(*files.words(**shares))
    assert f"{'training' if on == 'train' else on} figures" in " ".join(printed.out.split())
    assert "hold out a share with --test" in printed.err
    assert json.loads((files.folder / "run" / "metrics.json").read_text())["on"] == on


def test_validation_stops_training_early(cli: CommandLine, files: Files) -> None:
    figures = cli.ok(*files.words(epochs=200, patience=1), "--json").json
    assert figures["epochs"] < 200
    assert "no better validation_regret" in figures["reason"]


def test_options_that_a_method_does_not_use_are_refused(cli: CommandLine, tmp_path: Path) -> None:
    words = ["train", "synthetic-knapsack-60", "--option", "days=40", "--out", tmp_path / "run"]
    assert "'auto' chooses by folds of the training data: leave out --lr" in cli(*words, "--lr", 0.5).error
    assert "leave out batch_size" in cli(*words, "--method", "two-stage", "--batch-size", 4).error
    assert "leave out epochs" in cli(*words, "--method", "direct", "--epochs", 4).error
    assert not (tmp_path / "run").exists()


def test_a_direct_search_is_stopped_by_validation_too(cli: CommandLine, files: Files) -> None:
    pytest.importorskip("cma")
    words = files.words(method="direct", p_solve=None, patience=1, epochs=None)
    figures = cli.ok(*words, "--set", "generations=30", "--set", "population=4", "--json").json
    assert figures["epochs"] < 30
    assert "no better validation regret" in figures["reason"]


def test_the_perceptron_and_another_engine_are_a_word_away(
    cli: CommandLine, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyscipopt")
    monkeypatch.setattr(two_stage, "EPOCHS", 3)  # of the baseline, which need not be converged
    cli.ok(*files.words(model="mlp", hidden=4, engine="scip"))
    weights = load_state(files.folder / "run" / "weights.safetensors", kind="weights")
    assert (4, 3) in [tuple(value.shape) for value in weights.values()]


def test_auto_tries_quadratic_models_unless_a_model_is_named(cli: CommandLine, files: Files) -> None:
    search: dict[str, object] = {"method": None, "p_solve": None, "validation": None, "patience": None, "epochs": 2}
    for out, model in (("both", None), ("named", "linear"), ("quadratic", "quadratic")):
        cli.ok(*files.words(out, model=model, **search), "--set", "methods=map-dc", "--set", "folds=2")
    names = {
        out: [score["name"] for score in json.loads((files.folder / out / "search.json").read_text())["candidates"]]
        for out in ("both", "named", "quadratic")
    }
    assert 2 * sum(name.endswith("products") for name in names["both"]) == len(names["both"])
    assert not any(name.endswith("products") for name in names["named"] + names["quadratic"])
    widths = {}
    for out in names:
        weights = load_state(files.folder / out / "weights.safetensors", kind="weights")
        widths[out] = [value.shape[1] for value in weights.values() if value.ndim == 2]
        first = cli.ok("evaluate", files.folder / out, "--json").json["regret"]
        assert first == json.loads((files.folder / out / "metrics.json").read_text())["regret"]
    assert (widths["named"], widths["quadratic"]) == ([3], [9])  # 3 features, 6 squares and products
    cli.ok(*files.words("later", start=files.folder / "quadratic"))
    later = load_state(files.folder / "later" / "weights.safetensors", kind="weights")
    assert [value.shape[1] for value in later.values() if value.ndim == 2] == [9]


def test_weights_of_another_shape_are_refused_with_both_shapes(cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words(epochs=0))
    write_csv(files.x, ["a", "b", "c", "d"], [[*row, i] for i, row in enumerate(files.features.tolist())])
    said = cli(*files.words("later", start=files.folder / "run")).error
    assert f"the weights of {files.folder / 'run'} do not fit the model of this run: " in said
    assert "has shape (3,) there and (4,) here" in said
    assert not (files.folder / "later").exists()


WRONG = {
    "missing features": ({"features": "none.csv"}, r"there is no file none\.csv"),
    "missing model": ({}, r"there is no file .*knapsack\.lp"),
    "unknown pattern": ({"cost_variables": "y_*"}, r"no variable of the model matches 'y_\*'"),
    "unknown kind of file": ({"features": "x.txt"}, r"x\.txt: a data file must end in"),
    "shares": ({"validation": 0.6, "test": 0.5}, "shares that leave some training data"),
    "model": ({"model": "forest"}, "'model' of problem .* must be one of linear, quadratic, splines, mlp"),
    "method": ({"method": "magic"}, "method must be one of"),
    "engine": ({"engine": "abacus"}, "engine must be one of"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_words_give_one_line_and_leave_nothing(case: str, cli: CommandLine, files: Files) -> None:
    if case == "missing model":
        files.model.unlink()
    changed, message = WRONG[case]
    before = listing(files.folder)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(cli(*files.words(**changed)).error)
    assert listing(files.folder) == before
    assert not (files.folder / "run").exists()


CELLS = {
    "text": ("x", 2, "many", r"x\.csv, line 4, column 'b': expected a finite number as in 23 other cells, got 'many'"),
    "empty": ("x", 2, "", r"x\.csv, line 4, column 'b': the cell is empty"),
    "nan": ("c", 0, "nan", r"c\.csv, line 2, column 'x_3': expected a finite number, got 'nan'"),
    "infinite": ("c", 5, "-inf", r"c\.csv, line 7, column 'x_3': expected a finite number, got '-inf'"),
}


def rewritten(path: Path, row: int, column: int, cell: str) -> None:
    lines = [line.split(",") for line in path.read_text().splitlines()]
    lines[row + 1][column] = cell
    path.write_text("\n".join(",".join(line) for line in lines) + "\n")


@pytest.mark.parametrize("case", CELLS)
def test_a_wrong_cell_is_named_by_file_line_and_column(case: str, cli: CommandLine, files: Files) -> None:
    which, row, cell, message = CELLS[case]
    rewritten(files.x if which == "x" else files.c, row, 1, cell)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(cli(*files.words()).error)
    assert not (files.folder / "run").exists()


def test_wrong_numbers_of_cells_rows_and_columns_are_named(cli: CommandLine, files: Files) -> None:
    text = files.x.read_text()
    files.x.write_text(text + "1,2\n")
    assert "x.csv, line 42: expected 3 cells as in the header, got 2" in cli(*files.words()).error
    files.x.write_text("\n".join(text.splitlines()[:-1]))
    assert "has 39 instances and" in cli(*files.words()).error
    files.x.write_text(text)
    write_csv(files.c, [*ITEMS[:-1], "rent"], files.costs.tolist())
    error = cli(*files.words()).error
    assert "missing: x_4" in error
    assert "unknown: rent" in error


def test_an_infeasible_model_is_called_so(cli: CommandLine, files: Files) -> None:
    files.model.write_text(MODEL.replace("binary", " cover: x_0 + x_1 >= 3\nbinary"))
    result = cli(*files.words())
    assert result.code == 1
    assert "knapsack.lp is infeasible" in result.error
    assert not (files.folder / "run").exists()


def test_an_output_that_cannot_be_written_is_named_before_any_work(cli: CommandLine, files: Files) -> None:
    (files.folder / "taken").write_text("mine")
    for out in ("taken", "taken/run"):
        result = cli(*files.words(out))
        assert result.code == 1
        assert "cannot write" in result.error
    assert (files.folder / "taken").read_text() == "mine"


def test_an_earlier_run_is_left_alone(cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words())
    before = listing(files.folder / "run")
    assert "add --resume" in cli(*files.words(lr=0.5)).error
    rewritten(files.x, 2, 0, "oops")
    assert "there is a run in" in cli(*files.words()).error
    assert "holds another run" in cli(*files.words(lr=0.5), "--resume").error
    assert listing(files.folder / "run") == before


def test_a_users_own_files_are_never_overwritten(cli: CommandLine, files: Files) -> None:
    table = files.folder / "history.csv"
    table.write_bytes(files.c.read_bytes())
    result = cli(*files.words(costs=table, out=files.folder))
    assert result.code == 1
    assert "is no run, and a run would overwrite history.csv there: choose another folder" in result.error
    assert table.read_bytes() == files.c.read_bytes()
    table.unlink()
    others = [files.folder / name for name in ("labels/mine.safetensors", ".notes.tmp")]
    for other in others:
        other.parent.mkdir(exist_ok=True)
        other.write_text("mine")
    cli.ok(*files.words(out=files.folder))
    assert all(other.exists() for other in others)


def test_names_in_files_are_no_paths(cli: CommandLine, files: Files) -> None:
    outside = files.folder.parent / "escaped"
    header = ["../../escaped", "/tmp/x", "c"]
    write_csv(files.x, header, files.features.tolist())
    cli.ok(*files.words("inner/run"))
    assert not outside.exists()
    assert {path.name for path in files.folder.iterdir()} == {"knapsack.lp", "x.csv", "c.csv", "inner"}


def test_data_of_ones_own_need_a_model_file_and_the_reverse(cli: CommandLine, files: Files) -> None:
    error = cli("train", "synthetic-knapsack-60", "--features", files.x, "--out", files.folder / "run").error
    assert "--features is for model files" in error
    error = cli("train", "model.txt", "--features", files.x, "--out", files.folder / "run").error
    assert "or an .mps or .lp file, got 'model.txt'" in error
    assert "give its data with --costs" in cli(*files.words(costs=None)).error


def test_all_cores_solve_by_default_and_give_the_numbers_of_one(
    files: Files, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regretless.solvers.executors.cores", lambda: 3)
    used = []
    made = EnginePool.__init__

    def noted(pool: EnginePool, *words: Any, **how: Any) -> None:
        made(pool, *words, **how)
        used.append(pool.workers)

    monkeypatch.setattr(EnginePool, "__init__", noted)
    several = cli.ok(*files.words(), "--json").json
    assert max(used) == 3
    used.clear()
    one = cli.ok(*files.words("one", workers=1), "--json").json
    assert set(used) == {1}
    assert one["regret"] == several["regret"]


@pytest.mark.filterwarnings("default::regretless.errors.RegretlessWarning")
def test_costs_among_the_features_are_reported(files: Files, cli: CommandLine) -> None:
    copied = files.folder / "features.csv"
    copied.write_bytes(files.c.read_bytes())
    assert "equals the true cost of 'x_4' in every row" in cli.ok(*files.words(features=copied)).err
