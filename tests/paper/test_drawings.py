from __future__ import annotations

from pathlib import Path

import pytest

from regretless.paper import drawings
from regretless.paper.grid import load_grid
from regretless.runs.results import read_results

from .folders import finished

pytest.importorskip("matplotlib")
GRID = load_grid("smoke")
PROBLEM = GRID.focus


def test_learning_curves_are_means_over_seeds_against_time_spent_so_far(tmp_path: Path) -> None:
    for seed in (0, 1):
        finished(tmp_path, GRID.spec(PROBLEM, "spo", seed=seed))
    drawn = drawings.learning_curves(GRID, PROBLEM, read_results(tmp_path))
    assert drawn is not None
    above, below = drawn.figure.axes
    line = above.lines[0]
    assert list(line.get_xdata()) == [0.5, 1.0, 1.5]
    assert list(line.get_ydata()) == [200.5, 190.5, 180.5]
    assert list(below.lines[0].get_xdata()) == [10, 20, 30]
    assert any("190.5 after epoch 2" in text for text in drawn.hover.values())


def test_regret_against_time_has_one_point_a_method_and_share(tmp_path: Path) -> None:
    for method in ("two-stage", "spo", "map-dc"):
        for seed, seconds in enumerate((1.0, 2.0, 9.0)):
            finished(tmp_path, GRID.spec(PROBLEM, method, seed=seed), regret=10.0 * seed, epoch_seconds=seconds)
    finished(tmp_path, GRID.spec(PROBLEM, "map-dc", settings={"p_solve": 0.05}), regret=7.0)
    drawn = drawings.regret_against_time(GRID, PROBLEM, read_results(tmp_path))
    assert drawn is not None
    lines = drawn.figure.axes[0].lines
    points = {line.get_label(): (line.get_xdata()[0], line.get_ydata()[0]) for line in lines}
    assert points == {
        "two-stage": (2.0, 10.0), "spo": (2.0, 10.0), "map-dc 100%": (2.0, 10.0), "map-dc 5%": (0.5, 7.0),
    }  # fmt: skip


def test_regret_against_p_solve_has_a_point_for_every_share(tmp_path: Path) -> None:
    for p, regret in ((0.0, 30.0), (0.05, 20.0), (1.0, 10.0)):
        finished(tmp_path, GRID.spec(PROBLEM, "map-dc", settings={"p_solve": p}), regret=regret)
    drawn = drawings.regret_against_p_solve(GRID, PROBLEM, read_results(tmp_path))
    assert drawn is not None
    assert [tick.get_text() for tick in drawn.figure.axes[0].get_xticklabels()] == ["0%", "5%", "100%"]
    assert sorted(drawn.hover) == [f"p-{PROBLEM}-map-dc-{p}" for p in ("0", "0.05", "1")]


@pytest.mark.parametrize("draw", [*drawings.EACH, *drawings.FOCUS])
def test_nothing_is_drawn_where_nothing_was_run(draw: drawings.Draw, tmp_path: Path) -> None:
    finished(tmp_path, GRID.spec("synthetic-knapsack-120", "two-stage"))
    assert draw(GRID, PROBLEM, read_results(tmp_path)) is None


def test_runs_with_other_options_of_the_problem_stay_out(tmp_path: Path) -> None:
    for method in ("two-stage", "spo"):
        finished(tmp_path, GRID.spec(PROBLEM, method), regret=10.0)
        finished(tmp_path, GRID.spec(PROBLEM, method, options={"days": 50}), regret=90.0)
    drawn = drawings.regret_against_time(GRID, PROBLEM, read_results(tmp_path))
    assert drawn is not None
    assert [line.get_ydata()[0] for line in drawn.figure.axes[0].lines] == [10.0, 10.0]
