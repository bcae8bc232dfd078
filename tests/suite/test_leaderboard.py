from __future__ import annotations

import json
from pathlib import Path

import pytest

from regretless.runs.results import Result
from regretless.suite.cells import Cell
from regretless.suite.leaderboard import Leaderboard, cell_names, make_leaderboard, method_name, write_leaderboard
from regretless.suite.suite_runs import plan_suite

EASY, HARD = Cell("shortest-path", 100, 1), Cell("shortest-path", 100, 4)
SOLVES = {"labels": 1000, "growth": 1, "watching": 4, "scoring": 16, "evaluation": 2000}
LEDGER = {name: {"solves": solves, "seconds": 0.0} for name, solves in SOLVES.items()}


def results(figures: dict[tuple[str, str], list[float]], start: str = "two-stage") -> list[Result]:
    """Results of runs that have these relative regrets per seed."""
    found = []
    for cell in (EASY, HARD):
        for method in ("two-stage", "map-dc", "soft"):
            values = figures.get((cell.name, method), [])
            for spec, value in zip(plan_suite([cell], methods=[method], seeds=len(values) or 1, start=start), values,
                                   strict=False):  # fmt: skip
                metrics = {"relative_regret": value, "train_seconds": 2.0, "ledger": LEDGER}
                found.append(Result(spec, Path("somewhere"), "done", metrics))
    return found


def board() -> Leaderboard:
    figures = {
        (EASY.name, "two-stage"): [0.10, 0.10],
        (EASY.name, "map-dc"): [0.11, 0.09],
        (EASY.name, "soft"): [0.18, 0.18],
        (HARD.name, "two-stage"): [0.40],
        (HARD.name, "map-dc"): [0.10],
        (HARD.name, "soft"): [0.20],
    }
    return make_leaderboard(results(figures))


def test_methods_are_ranked_by_the_geometric_mean_of_their_ratio_to_two_stage() -> None:
    found = board()
    assert [score.method for score in found.methods] == ["map-dc", "soft", "two-stage"]
    best = found.methods[0]
    assert best.ratio == pytest.approx((1.0 * 0.25) ** 0.5)
    assert best.worst == pytest.approx(1.0)
    assert found.methods[1].ratio == pytest.approx((1.8 * 0.5) ** 0.5)


def test_equal_regrets_share_a_rank() -> None:
    scores = {score.method: score for score in board().methods}
    assert (scores["map-dc"].rank, scores["map-dc"].wins) == (1.0, 2)
    assert (scores["two-stage"].rank, scores["two-stage"].wins) == (2.0, 1)
    assert (scores["soft"].rank, scores["soft"].wins) == (2.5, 0)


def test_figures_of_a_cell_are_means_over_the_seeds_in_per_cent() -> None:
    score = next(s for s in board().cells if (s.cell, s.method) == (EASY.name, "map-dc"))
    assert score.regret == pytest.approx(10.0)
    assert score.deviation == pytest.approx(2**0.5)
    assert (score.seeds, score.solves, score.seconds) == (2, 21, 2.0)


def test_cells_that_lack_a_method_are_not_compared() -> None:
    found = make_leaderboard(
        results({(EASY.name, "two-stage"): [0.1], (EASY.name, "soft"): [0.18], (HARD.name, "two-stage"): [0.1]})
    )
    assert found.compared == [EASY.name]
    assert len(found.cells) == 3


def test_methods_are_compared_by_the_seeds_that_all_of_them_have() -> None:
    found = make_leaderboard(
        results({(EASY.name, "two-stage"): [0.1, 0.4, 0.7], (EASY.name, "soft"): [0.09], (HARD.name, "soft"): [0.1]})
    )
    scores = {score.method: score for score in found.methods}
    assert scores["soft"].ratio == pytest.approx(0.9)  # seeds are draws of the data: 0.09 / 0.4 says nothing
    assert found.compared == [EASY.name]
    assert [(score.regret, score.seeds) for score in found.cells if score.method == "two-stage"] == [(10.0, 1)]


def test_cells_without_a_common_seed_are_not_compared() -> None:
    found = results({(EASY.name, "two-stage"): [0.1, 0.4], (EASY.name, "soft"): [0.09, 0.2]})
    apart = [one for one in found if (one.spec.seed == 0) == (method_name(one.spec) == "soft")]
    board = make_leaderboard(apart)
    assert (board.compared, [score.seeds for score in board.cells]) == ([], [1, 1])


def test_cells_of_other_sizes_are_other_cells() -> None:
    small, large = Cell("top-k", 100, None, {"test": 20, "items": 5}), Cell("top-k", 100, None, {"test": 20})
    specs = plan_suite([small, large], methods=["two-stage"], seeds=2)
    assert list(cell_names(specs).values()) == [
        *["top-k n 100 (items=5, test=20)"] * 2, *["top-k n 100 (test=20)"] * 2,
    ]  # fmt: skip
    plain = plan_suite([small, Cell("top-k", 100)], methods=["two-stage"], seeds=1)
    assert list(cell_names(plain).values()) == ["top-k n 100 (items=5, test=20)", "top-k n 100"]
    metrics = {"relative_regret": 0.1, "train_seconds": 2.0, "ledger": LEDGER}
    found = make_leaderboard([Result(spec, Path("somewhere"), "done", metrics) for spec in specs])
    assert [score.seeds for score in found.cells] == [2, 2]


def test_without_two_stage_methods_are_ordered_by_their_rank(tmp_path: Path) -> None:
    found = make_leaderboard(results({(EASY.name, "map-dc"): [0.3], (EASY.name, "soft"): [0.2]}))
    assert [score.method for score in found.methods] == ["soft", "map-dc"]
    write_leaderboard(found, tmp_path)
    page = (tmp_path / "leaderboard.md").read_text(encoding="utf-8")
    assert page.startswith("Two-stage is not among the methods")
    assert "nan" not in page
    data = (tmp_path / "leaderboard.json").read_text(encoding="utf-8")
    assert "NaN" not in data  # which is no JSON
    assert [score["ratio"] for score in json.loads(data)["methods"]] == [None, None]


def test_failed_runs_are_named() -> None:
    (spec,) = plan_suite([EASY], methods=["soft"], seeds=1)
    found = make_leaderboard([Result(spec, Path("somewhere"), "failed", error="no luck")])
    assert found.failed == ["shortest-path deg 1 n 100, soft, seed 0: no luck"]


def test_a_run_from_random_weights_is_a_method_of_its_own() -> None:
    (spec,) = plan_suite([EASY], methods=["soft"], seeds=1, start="random")
    assert method_name(spec) == "soft, random start"
    assert cell_names([spec]) == {spec.digest: EASY.name}


def test_page_data_and_figure_are_written(tmp_path: Path) -> None:
    write_leaderboard(board(), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"leaderboard.{kind}" for kind in ("md", "json", "csv", "svg", "png")
    }
    assert (tmp_path / "leaderboard.csv").read_text().count("\n") == 1 + 6


def test_a_run_without_a_relative_regret_wins_nothing_and_is_named() -> None:
    figures = {(EASY.name, "two-stage"): [0.1, 0.1], (EASY.name, "soft"): [float("nan"), 0.2]}
    found = make_leaderboard(results(figures))
    scores = {score.method: score for score in found.methods}
    assert (scores["soft"].ratio, scores["soft"].rank, scores["soft"].wins) == (pytest.approx(2.0), 2.0, 0)
    assert scores["two-stage"].wins == 1
    assert len(found.failed) == 1
    assert found.failed[0].startswith("shortest-path deg 1 n 100, soft, seed 0: it has no relative regret")


def test_regrets_of_zero_are_ties_and_have_a_ratio() -> None:
    found = make_leaderboard(results({(EASY.name, "two-stage"): [0.0], (EASY.name, "soft"): [1e-9]}))
    assert [(score.ratio, score.rank, score.wins) for score in found.methods] == [(1.0, 1.0, 1), (1.0, 1.0, 1)]
