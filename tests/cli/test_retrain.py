"""More data for a finished run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from regretless.storage import load_state

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
    third = cli.ok(*retrain(files, "--json", run="new", out="third")).json
    assert third["ledger"]["labels"]["solves"] == 10


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
    cli.ok(*files.words(method="auto", p_solve=None, validation=None, epochs=2))
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
