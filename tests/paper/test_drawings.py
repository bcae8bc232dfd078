from __future__ import annotations

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import pytest

from regretless.paper import drawings
from regretless.paper.drawings import regret_against_solves, write_figures
from regretless.paper.grid import load_grid
from regretless.runs.results import read_results
from regretless.runs.run_folder import run_path

from .folders import finished

GRID = load_grid("smoke")
PROBLEM = GRID.focus


def texts(drawn: drawings.Drawing) -> list[str]:
    assert drawn.chart is not None
    return [text for group in drawn.chart.hover.values() for text in group]


def test_learning_curves_are_means_over_seeds_against_time_spent_so_far(tmp_path: Path) -> None:
    for seed in (0, 1):
        finished(tmp_path, GRID.spec(PROBLEM, "spo", seed=seed))
    drawn = drawings.learning_curves(GRID, PROBLEM, read_results(tmp_path))
    assert drawn.chart is not None
    above, below = drawn.chart.figure.axes
    line = above.lines[0]
    assert list(line.get_xdata()) == [0.5, 1.0, 1.5]
    assert list(line.get_ydata()) == [200.5, 190.5, 180.5]
    assert list(below.lines[0].get_xdata()) == [10, 20, 30]
    assert any("epoch 2, 1 s of training\ntest regret 190.5 ± 0.7071 (2 seeds)" in text for text in texts(drawn))


def test_bands_are_sample_deviations_and_the_caption_says_so(tmp_path: Path) -> None:
    for seed in (0, 1):
        finished(tmp_path, GRID.spec(PROBLEM, "spo", seed=seed))
    drawn = drawings.learning_curves(GRID, PROBLEM, read_results(tmp_path))
    assert drawn.chart is not None
    band = drawn.chart.figure.axes[0].collections[0].get_paths()[0].vertices
    assert max(band[:, 1]) == pytest.approx(200.5 + math.sqrt(0.5))
    assert "sample deviation" in drawn.caption


def test_epochs_before_the_first_solve_do_not_end_the_logarithm(tmp_path: Path) -> None:
    spec = GRID.spec(PROBLEM, "spo")
    finished(tmp_path, spec)
    (run_path(tmp_path, spec) / "history.csv").write_text(
        "epoch,seconds,solves,test_regret\n1,0.5,0,200\n2,0.5,10,190\n3,0.5,10,180\n"
    )
    drawn = drawings.learning_curves(GRID, PROBLEM, read_results(tmp_path))
    assert drawn.chart is not None
    above, below = drawn.chart.figure.axes
    assert below.get_xscale() == "log"
    assert list(below.lines[0].get_xdata()) == [10, 20]
    assert len(above.lines[0].get_xdata()) == 3


def test_restored_weights_are_marked_and_mentioned(tmp_path: Path) -> None:
    spec = GRID.spec(PROBLEM, "spo")
    finished(tmp_path, spec, regret=190.0)
    (run_path(tmp_path, spec) / "history.csv").write_text(
        "epoch,seconds,solves,test_regret\n1,0.5,10,200\n2,0.5,10,190\n3,0.5,10,400\n"
    )
    drawn = drawings.learning_curves(GRID, PROBLEM, read_results(tmp_path))
    assert drawn.chart is not None
    assert "early stopping restored" in drawn.caption
    assert any("restored the weights of epoch 2\nfinal test regret 190.0" in text for text in texts(drawn))


def test_regret_against_time_has_one_point_per_method_and_share(tmp_path: Path) -> None:
    for method in ("two-stage", "spo", "map-dc"):
        for seed, seconds in enumerate((1.0, 2.0, 9.0)):
            finished(tmp_path, GRID.spec(PROBLEM, method, seed=seed), regret=10.0 * seed, epoch_seconds=seconds)
    finished(tmp_path, GRID.spec(PROBLEM, "map-dc", settings={"p_solve": 0.05}), regret=7.0)
    drawn = drawings.regret_against_time(GRID, PROBLEM, read_results(tmp_path))
    assert drawn.chart is not None
    points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in drawn.chart.figure.axes[0].lines]
    names = [text.get_text() for text in drawn.chart.figure.legends[0].get_texts()]
    assert dict(zip(names, points, strict=True)) == {
        "two-stage": (2.0, 10.0), "spo": (2.0, 10.0), "map-dc 100%": (2.0, 10.0), "map-dc 5%": (0.5, 7.0),
    }  # fmt: skip


@pytest.mark.parametrize(("shared", "regret"), [(1, 10.0), (3, 90.0)])
def test_a_point_never_mixes_kinds_of_initial_weights(shared: int, regret: float, tmp_path: Path) -> None:
    for method in ("two-stage", "spo"):
        for seed in range(2):
            finished(tmp_path, GRID.spec(PROBLEM, method, seed=seed), regret=10.0, epoch_seconds=1.0)
        for seed in range(shared):
            spec = GRID.spec(PROBLEM, method, seed=seed, init="shared")
            finished(tmp_path, spec, regret=90.0, epoch_seconds=1.0)
    drawn = drawings.regret_against_time(GRID, PROBLEM, read_results(tmp_path))
    assert drawn.chart is not None
    assert [line.get_ydata()[0] for line in drawn.chart.figure.axes[0].lines] == [regret, regret]


def test_one_method_alone_is_not_compared(tmp_path: Path) -> None:
    finished(tmp_path, GRID.spec(PROBLEM, "spo"))
    assert drawings.regret_against_time(GRID, PROBLEM, read_results(tmp_path)).chart is None


def test_regret_against_p_solve_has_a_point_for_every_share(tmp_path: Path) -> None:
    for p, regret in ((0.0, 30.0), (0.05, 20.0), (1.0, 10.0)):
        finished(tmp_path, GRID.spec(PROBLEM, "map-dc", settings={"p_solve": p}), regret=regret)
    drawn = drawings.regret_against_p_solve(GRID, PROBLEM, read_results(tmp_path))
    assert drawn.chart is not None
    assert [tick.get_text() for tick in drawn.chart.figure.axes[0].get_xticklabels()] == ["0%", "5%", "100%"]
    assert texts(drawn) == [
        f"map-dc\np_solve {p}\ntest regret {regret}"
        for p, regret in (("0%", "30.00"), ("5%", "20.00"), ("100%", "10.00"))
    ]


@pytest.mark.parametrize("draw", [*drawings.PER_PROBLEM, drawings.regret_against_p_solve])
def test_nothing_is_drawn_where_nothing_was_run(draw: drawings.Draw, tmp_path: Path) -> None:
    finished(tmp_path, GRID.spec("synthetic-knapsack-120", "two-stage"))
    assert draw(GRID, PROBLEM, read_results(tmp_path)).chart is None


def test_runs_with_other_options_of_the_problem_stay_out(tmp_path: Path) -> None:
    for method in ("two-stage", "spo"):
        finished(tmp_path, GRID.spec(PROBLEM, method), regret=10.0)
        finished(tmp_path, GRID.spec(PROBLEM, method, options={"days": 50}), regret=90.0)
    drawn = drawings.regret_against_time(GRID, PROBLEM, read_results(tmp_path))
    assert drawn.chart is not None
    assert [line.get_ydata()[0] for line in drawn.chart.figure.axes[0].lines] == [10.0, 10.0]


GRID_OF_GAP_DRAWING = load_grid("gaps")
PROBLEM_OF_GAP_DRAWING = "knapsack-60"


def cell(tmp_path: Path, p_solve: float, regret: float, solves: int, **words: str) -> None:
    for seed in (0, 1):
        spec = GRID_OF_GAP_DRAWING.spec(
            PROBLEM_OF_GAP_DRAWING, "map-dc", seed=seed, settings={"p_solve": p_solve} | words
        )
        finished(tmp_path, spec, regret=regret + seed, solves=solves, lookups=1000)


def test_each_policy_is_a_line_over_the_share_that_was_solved(tmp_path: Path) -> None:
    cell(tmp_path, 0.01, 100.0, 10)
    cell(tmp_path, 1.0, 80.0, 1000)
    cell(tmp_path, 0.01, 82.0, 9, policy="largest-gap")
    drawn = regret_against_solves(GRID_OF_GAP_DRAWING, read_results(tmp_path))
    assert drawn.chart is not None
    titles = [axes.get_title().strip() for axes in drawn.chart.figure.axes]
    assert titles == [PROBLEM_OF_GAP_DRAWING], "one panel per problem that has runs"
    points = {line.get_gid(): line for line in drawn.chart.figure.axes[0].lines}
    coin, gaps = points["points-0-0"], points["points-0-1"]
    assert list(coin.get_xdata()) == pytest.approx([1.0, 100.0])
    assert list(coin.get_ydata()) == pytest.approx([100.5, 80.5])
    assert list(gaps.get_xdata()) == pytest.approx([0.9])
    assert list(gaps.get_ydata()) == pytest.approx([82.5])
    assert drawn.chart.hover["points-0-1"] == (
        f"{PROBLEM_OF_GAP_DRAWING}, largest-gap\n0.90% solved\ntest regret 82.50 ± 0.7071 (2 seeds)",
    )


def test_the_coin_alone_is_no_comparison(tmp_path: Path) -> None:
    cell(tmp_path, 0.01, 100.0, 10)
    assert regret_against_solves(GRID_OF_GAP_DRAWING, read_results(tmp_path)).chart is None


def test_runs_by_gap_stay_out_of_the_papers_figures_and_in_their_own(tmp_path: Path) -> None:
    cell(tmp_path, 0.05, 100.0, 10)
    cell(tmp_path, 0.05, 50.0, 10, policy="largest-gap")
    found = read_results(tmp_path)
    assert len(found) == 4, "one cell a policy, not one that replaces the other"
    assert write_figures(GRID_OF_GAP_DRAWING, found, tmp_path / "figures") == ["solves"]
    knapsack = write_figures(load_grid("knapsack"), found, tmp_path / "paper")
    assert knapsack == [f"growth-{PROBLEM_OF_GAP_DRAWING}"]
    assert "cache" in (tmp_path / "paper" / f"growth-{PROBLEM_OF_GAP_DRAWING}.svg").read_text()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results, and the figures of them."""
    folder = tmp_path_factory.mktemp("results")
    grid = load_grid("smoke")
    for spec in grid.specs(seeds=2):
        if spec.problem == grid.focus:
            finished(folder, spec, regret=100.0 + spec.seed)
    write_figures(grid, read_results(folder), folder / "figures")
    return folder


def test_every_figure_comes_as_svg_png_and_what_it_says(results: Path) -> None:
    names = [path.stem for path in (results / "figures").glob("*.svg")]
    p = "synthetic-knapsack-60"
    assert set(names) == {f"curves-{p}", f"q4-{p}", f"growth-{p}", f"p-solve-{p}"}
    for name in names:
        about = json.loads((results / "figures" / f"{name}.json").read_text())
        assert set(about) == {"title", "caption", "question"}
        assert (results / "figures" / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        root = ElementTree.fromstring((results / "figures" / f"{name}.svg").read_text())
        assert len(root.findall(".//{http://www.w3.org/2000/svg}title")) >= 3


@pytest.mark.slow  # tests/charts/test_svg.py is fast
def test_the_same_numbers_give_the_same_bytes(results: Path, tmp_path: Path) -> None:
    names = write_figures(load_grid("smoke"), read_results(results), tmp_path)
    assert {f"{name}.svg" for name in names} == {file.name for file in tmp_path.glob("*.svg")}
    for file in tmp_path.iterdir():
        assert file.read_bytes() == (results / "figures" / file.name).read_bytes(), file.name
