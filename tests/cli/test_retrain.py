"""More data for a finished run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from regretless.storage import load_state, save_state

from .files import ITEMS, CommandLine, Files, write_csv


def more(files: Files, n: int = 10, seed: int = 5) -> tuple[Path, Path]:
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, 3))
    return (
        write_csv(files.folder / "more_x.csv", ["c", "a", "b"], x.tolist()),
        write_csv(files.folder / "more_c.csv", ITEMS, generator.uniform(1, 9, (n, 5)).tolist()),
    )


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != ".lock"}


def retrain(files: Files, *more_words: object, out: str = "new", run: str = "run") -> list[object]:
    x, c = more(files)
    return ["retrain", files.folder / run, "--features", x, "--costs", c, "--out", files.folder / out, *more_words]


def test_only_new_rows_are_labelled_and_the_old_run_stays(files: Files, cli: CommandLine) -> None:
    cli.ok(*files.words())
    before = listing(files.folder / "run")
    for path in (files.model, files.x, files.c):  # the run's folder is enough
        path.unlink()
    figures = cli.ok(*retrain(files, "--json")).json
    assert figures["ledger"]["labels"]["solves"] == 10
    assert figures["instances"] == 10, "a fifth of 50 rows, the newest"
    counts = figures["training_rows"], figures["training_rows_new"], figures["training_rows_held_out_before"]
    assert counts == (30, 6, 6)
    assert listing(files.folder / "run") == before
    data = load_state(files.folder / "new" / "data.safetensors", kind="data")
    assert [len(data[part]["costs"]) for part in ("train", "validation", "test")] == [30, 10, 10]
    old, new = (load_state(files.folder / run / "cache.safetensors", kind="cache") for run in ("run", "new"))
    stored = {tuple(row) for row in new["store"]["rows"].tolist()}
    assert {tuple(row) for row in old["store"]["rows"].tolist()} <= stored
    again = cli.ok("evaluate", files.folder / "new", "--json").json
    assert again["regret"] == figures["regret"]
    out = files.folder / "d.csv"
    cli.ok("decide", files.folder / "new", "--features", files.folder / "more_x.csv", "--out", out)
    x, c = more(files, seed=6)
    words = ("--features", x, "--costs", c, "--out", files.folder / "third", "--json")
    assert cli.ok("retrain", files.folder / "new", *words).json["ledger"]["labels"]["solves"] == 10


def test_no_epoch_keeps_the_weights_of_the_old_run(files: Files, cli: CommandLine) -> None:
    cli.ok(*files.words(validation=None))
    cli.ok(*retrain(files, "--epochs", 0))
    old, new = (load_state(files.folder / run / "weights.safetensors", kind="weights") for run in ("run", "new"))
    assert all((old[name] == new[name]).all() for name in old)


def test_a_family_is_retrained_with_members_that_it_never_had(files: Files, cli: CommandLine) -> None:
    table = write_csv(files.folder / "r.csv", ["row:weight"], [[5 + i % 3] for i in range(40)])
    cli.ok(*files.words(constraints=table))
    new = write_csv(files.folder / "more_r.csv", ["row:weight"], [[9 + i % 2] for i in range(10)])
    figures = cli.ok(*retrain(files, "--constraints", new, "--json")).json
    assert figures["ledger"]["labels"]["solves"] == 10
    state = load_state(files.folder / "new" / "data.safetensors", kind="data")
    assert sorted({float(v) for v in state["variations"]["row_upper"].flatten()}) == [5, 6, 7, 9, 10]


def test_auto_searches_again_over_the_old_cache(files: Files, cli: CommandLine) -> None:
    few = ("--set", "methods=map-dc", "--set", "folds=2")
    cli.ok(*files.words(method="auto", p_solve=None, validation=None, epochs=2), *few)
    figures = cli.ok(*retrain(files, "--json")).json
    assert figures["ledger"]["labels"]["solves"] == 10
    assert json.loads((files.folder / "new" / "spec.json").read_text())["method"] == "auto"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--constraints", "r.csv"), "was trained without constraints that differ"),
        (("--epochs", -1), "epochs must be"),
    ],
)
def test_what_cannot_be_retrained_is_refused_and_leaves_nothing(
    words: tuple[object, ...], said: str, files: Files, cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files.folder)
    cli.ok(*files.words())
    assert said in cli(*retrain(files, *words)).error
    assert not (files.folder / "new").exists()


def test_a_folder_that_is_no_run_or_the_run_itself_is_refused(files: Files, cli: CommandLine) -> None:
    cli.ok(*files.words())
    assert "there is a run in" in cli(*retrain(files, out="run")).error
    assert "which stays as it is" in cli(*retrain(files, "--resume", out="run")).error
    assert "is no run" in cli(*retrain(files, run="nothing")).error


def test_processes_may_solve_for_it_and_give_the_same_figures(files: Files, cli: CommandLine) -> None:
    cli.ok(*files.words())
    figures = [
        cli.ok(*retrain(files, "--json", "--workers", "2", "--executor", executor, out=executor)).json
        for executor in ("threads", "processes")
    ]
    assert figures[0]["regret"] == figures[1]["regret"]
    assert "executor must be one of" in cli(*retrain(files, "--executor", "cluster", out="none")).error


def rows_of(files: Files, run: str, part: str) -> set[bytes]:
    state = load_state(files.folder / run / "data.safetensors", kind="data")[part]
    return {row.numpy().tobytes() for row in state["costs"]}


def cumulative(files: Files, *, named: bool) -> list[object]:
    """Files with all rows of the run and ten new ones, in the words of a command."""
    x, c = more(files)
    rows = (
        [line.split(",") for line in x.read_text().split()[1:]],
        [line.split(",") for line in c.read_text().split()[1:]],
    )
    features = [*files.features.tolist(), *([a, b, c] for c, a, b in rows[0])]
    costs = [*files.costs.tolist(), *rows[1]]
    head = ["instance"] if named else []
    both = [
        write_csv(
            files.folder / name, [*head, *columns], [[f"d{i}", *row] if named else row for i, row in enumerate(values)]
        )
        for name, columns, values in (("all_x.csv", ["a", "b", "c"], features), ("all_c.csv", ITEMS, costs))
    ]
    return ["--features", both[0], "--costs", both[1]]


def name_rows(files: Files) -> None:
    names = [f"d{i}" for i in range(40)]
    for path, columns, values in ((files.x, ["a", "b", "c"], files.features), (files.c, ITEMS, files.costs)):
        write_csv(
            path, ["instance", *columns], [[name, *row] for name, row in zip(names, values.tolist(), strict=True)]
        )


@pytest.mark.filterwarnings("default::regretless.errors.RegretlessWarning")
@pytest.mark.parametrize("named", [True, False])
def test_rows_that_the_run_has_are_left_out_and_counted(named: bool, files: Files, cli: CommandLine) -> None:
    if named:
        name_rows(files)
    cli.ok(*files.words())
    words = ("retrain", files.folder / "run", *cumulative(files, named=named), "--out", files.folder / "new", "--json")
    done = cli.ok(*words)
    assert done.json["ledger"]["labels"]["solves"] == 10
    x, run = files.folder / "all_x.csv", files.folder / "run"
    assert done.err == f"warning: 40 of 50 rows of {x} are in {run} already and are left out\n"
    assert not rows_of(files, "new", "train") & rows_of(files, "new", "test")
    again = cli("retrain", files.folder / "new", *cumulative(files, named=named), "--out", files.folder / "third")
    assert "has all 50 rows of" in again.error
    assert not (files.folder / "third").exists()


def test_a_file_of_an_older_version_has_no_names_and_rows_are_compared(files: Files, cli: CommandLine) -> None:
    name_rows(files)
    cli.ok(*files.words())
    path = files.folder / "run" / "data.safetensors"
    state = load_state(path, kind="data")
    for part in ("train", "validation", "test"):
        assert state[part].pop("names")[0].startswith("d")
    save_state(path, state, kind="data")
    words = ("--features", files.x, "--costs", files.c, "--out", files.folder / "new")
    assert "has all 40 rows of" in cli("retrain", files.folder / "run", *words).error


def test_known_names_with_other_numbers_are_told(files: Files, cli: CommandLine) -> None:
    name_rows(files)
    cli.ok(*files.words())
    write_csv(files.x, ["instance", "a", "b", "c"], [["d0", 1, 2, 3], ["d1", *files.features[1].tolist()]])
    write_csv(files.c, ["instance", *ITEMS], [[f"d{i}", *row] for i, row in enumerate(files.costs[:2].tolist())])
    words = ("--features", files.x, "--costs", files.c, "--out", files.folder / "new")
    said = cli("retrain", files.folder / "run", *words).error
    assert "has all 2 rows of" in said
    assert "1 of them hold other numbers there, which are kept" in said


@pytest.mark.filterwarnings("default::regretless.errors.RegretlessWarning")
def test_known_rows_under_other_names_are_told(files: Files, cli: CommandLine) -> None:
    name_rows(files)
    cli.ok(*files.words())
    for path in (files.x, files.c):
        path.write_text(path.read_text().replace("\nd", "\nday "))
    words = ("--features", files.x, "--costs", files.c, "--out", files.folder / "new")
    said = f"40 new rows of {files.x} have the features and costs of rows of {files.folder / 'run'} under other names"
    assert said in cli.ok("retrain", files.folder / "run", *words).err


@pytest.mark.filterwarnings("default::regretless.errors.RegretlessWarning")
def test_costs_in_other_units_are_reported(files: Files, cli: CommandLine) -> None:
    cli.ok(*files.words())
    x, c = more(files)
    write_csv(c, ITEMS, np.random.default_rng(0).uniform(1000, 9000, (10, 5)).tolist())
    words = ("--features", x, "--costs", c, "--out", files.folder / "new")
    assert f"warning: the costs of {c} are on another scale" in cli.ok("retrain", files.folder / "run", *words).err


@pytest.mark.parametrize("split", ["chronological", "random"])
def test_no_row_that_the_weights_were_trained_on_is_held_out(split: str, files: Files, cli: CommandLine) -> None:
    cli.ok(*files.words(split=split))
    figures = cli.ok(*retrain(files, "--json")).json
    assert figures["instances"] == 10
    seen = rows_of(files, "run", "train")
    assert seen < rows_of(files, "new", "train")
    assert not seen & (rows_of(files, "new", "validation") | rows_of(files, "new", "test"))
    if split == "random":
        assert rows_of(files, "run", "test") < rows_of(files, "new", "test")


def test_one_new_row_is_enough_with_a_random_split(files: Files, cli: CommandLine) -> None:
    cli.ok(*files.words(split="random"))
    x, c = more(files, 1)
    words = ("--features", x, "--costs", c, "--out", files.folder / "new", "--json")
    assert cli.ok("retrain", files.folder / "run", *words).json["instances"] == 8
    assert len(rows_of(files, "new", "train")) == 25


def test_a_new_level_joins_with_unseen_other_and_the_new_run_keeps_the_choice(files: Files, cli: CommandLine) -> None:
    zones = [["north", "south"][i % 2] for i in range(40)]
    rows = [[*row, zone] for row, zone in zip(files.features.tolist(), zones, strict=True)]
    write_csv(files.x, ["a", "b", "c", "zone"], rows)
    cli.ok(*files.words())
    _, c = more(files)
    x = write_csv(files.folder / "west.csv", ["a", "b", "c", "zone"], [[i / 9, 0, 0, "west"] for i in range(10)])
    words = ("retrain", files.folder / "run", "--features", x, "--costs", c, "--out", files.folder / "new")
    assert "'west' was never seen in training" in cli(*words).error
    assert not (files.folder / "new").exists()
    cli.ok(*words, "--unseen", "other")
    cli.ok("decide", files.folder / "new", "--features", x, "--out", files.folder / "d.csv")


@pytest.mark.filterwarnings("default::regretless.errors.RegretlessWarning")
def test_rows_before_those_of_the_run_are_reported(files: Files, cli: CommandLine) -> None:
    days = [f"2024-02-{i + 1:02d}" if i < 29 else f"2024-03-{i - 28:02d}" for i in range(40)]
    for path, columns, values in ((files.x, ["a", "b", "c"], files.features), (files.c, ITEMS, files.costs)):
        write_csv(path, ["instance", *columns], [[day, *row] for day, row in zip(days, values.tolist(), strict=True)])
    cli.ok(*files.words())
    words = ["retrain", files.folder / "run"]
    for role, columns, values in (("features", ["a", "b", "c"], files.features), ("costs", ITEMS, files.costs + 1)):
        rows = [[f"2024-01-{i + 1:02d}", *row] for i, row in enumerate(values[:10].tolist())]
        words += [f"--{role}", write_csv(files.folder / f"early_{role}.csv", ["instance", *columns], rows)]
    said = cli.ok(*words, "--out", files.folder / "new").err
    assert "are held out, but they are not the latest ones: 2024-01-01 comes after 2024-03-11" in said
