from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from regretless.errors import InputError
from regretless.storage import read_json
from regretless.suite import Cell, plan_suite, run_suite
from tests import runs_here

CELL = Cell("top-k", 20, options={"items": 6, "k": 1, "test": 10})


def test_every_method_is_planned_for_every_cell_and_seed() -> None:
    specs = plan_suite([CELL, Cell("shortest-path", 30, 4)], methods=["two-stage", "map-dc", "auto"], seeds=2)
    assert len(specs) == 2 * 3 * 2
    assert len({spec.digest for spec in specs}) == len(specs)
    assert {spec.options["seed"] for spec in specs if spec.seed == 1} == {1}


def test_a_method_is_a_search_for_its_best_single_setting() -> None:
    base, single, auto = plan_suite([CELL], methods=["two-stage", "map-dc", "auto"], seeds=1)
    assert base.settings == {"fit": "best"}
    assert single.settings == {"methods": ["map-dc"], "committee": 1, "fallback": False, "terms": "none"}
    assert auto.settings == {"terms": "none"}
    assert auto.start == ""
    (random,) = plan_suite([CELL], methods=["map-dc"], seeds=1, start="random")
    assert random.start == "random"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"methods": []}, "at least one method"),
        ({"seeds": 0}, "one seed"),
        ({"start": "zero"}, "start must be one of two-stage, random, got 'zero'"),
        ({"methods": ["direct"]}, "'direct' has none"),
        ({"methods": ["magic"]}, "method must be one of"),
    ],
)
def test_what_cannot_be_compared_is_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_suite([CELL], **settings)  # type: ignore[arg-type]


def test_a_suite_writes_its_leaderboard_and_does_no_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs_here.install(monkeypatch)
    specs = [replace(spec, epochs=2) for spec in plan_suite([CELL], methods=["two-stage", "map-dc"], seeds=1)]
    board = run_suite(specs, tmp_path, workers=1, stream=None)
    assert not board.failed
    assert board.compared == ["top-k n 20"]
    assert {score.method for score in board.methods} == {"two-stage", "map-dc"}
    assert read_json(tmp_path / "leaderboard.json")["compared"] == board.compared
    assert "| top-k n 20 |" in (tmp_path / "leaderboard.md").read_text()
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 1 + 2
    by_method = {score.method: score for score in board.cells}
    assert by_method["two-stage"].solves == 0
    assert by_method["map-dc"].solves >= 2 * 20  # scoring
    written = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/metrics.json")}
    run_suite(specs, tmp_path, workers=1, stream=None)
    assert {path: path.stat().st_mtime_ns for path in written} == written
