from __future__ import annotations

from pathlib import Path

import pytest

from regretless.paper.figures import write_figures
from regretless.paper.gap_drawing import regret_against_solves
from regretless.paper.grid import load_grid
from regretless.runs.results import read_results

from .folders import finished

GRID = load_grid("gaps")
PROBLEM = "knapsack-60"


def cell(tmp_path: Path, p_solve: float, regret: float, solves: int, **words: str) -> None:
    for seed in (0, 1):
        spec = GRID.spec(PROBLEM, "map-dc", seed=seed, settings={"p_solve": p_solve} | words)
        finished(tmp_path, spec, regret=regret + seed, solves=solves, lookups=1000)


def test_each_policy_is_a_line_over_the_share_that_was_solved(tmp_path: Path) -> None:
    cell(tmp_path, 0.01, 100.0, 10)
    cell(tmp_path, 1.0, 80.0, 1000)
    cell(tmp_path, 0.01, 82.0, 9, policy="largest-gap")
    drawn = regret_against_solves(GRID, read_results(tmp_path))
    assert drawn is not None
    titles = [axes.get_title().strip() for axes in drawn.chart.figure.axes]
    assert titles == [PROBLEM], "one panel per problem that has runs"
    points = {line.get_gid(): line for line in drawn.chart.figure.axes[0].lines}
    coin, gaps = points["points-0-0"], points["points-0-1"]
    assert list(coin.get_xdata()) == pytest.approx([1.0, 100.0])
    assert list(coin.get_ydata()) == pytest.approx([100.5, 80.5])
    assert list(gaps.get_xdata()) == pytest.approx([0.9])
    assert list(gaps.get_ydata()) == pytest.approx([82.5])
    assert drawn.chart.hover["points-0-1"] == (
        f"{PROBLEM}, largest-gap\n0.90% solved\ntest regret 82.50 ± 0.7071 (2 seeds)",
    )


def test_the_coin_alone_is_no_comparison(tmp_path: Path) -> None:
    cell(tmp_path, 0.01, 100.0, 10)
    assert regret_against_solves(GRID, read_results(tmp_path)) is None


def test_runs_by_gap_stay_out_of_the_papers_figures_and_in_their_own(tmp_path: Path) -> None:
    cell(tmp_path, 0.05, 100.0, 10)
    cell(tmp_path, 0.05, 50.0, 10, policy="largest-gap")
    found = read_results(tmp_path)
    assert len(found) == 4, "one cell a policy, not one that replaces the other"
    assert write_figures(GRID, found, tmp_path / "figures") == ["solves"]
    knapsack = write_figures(load_grid("knapsack"), found, tmp_path / "paper")
    assert knapsack == [f"growth-{PROBLEM}"]
    assert "cache" in (tmp_path / "paper" / f"growth-{PROBLEM}.svg").read_text()
