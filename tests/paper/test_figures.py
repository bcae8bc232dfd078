from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from regretless.paper.figures import write_figures
from regretless.paper.grid import load_grid
from regretless.runs.results import read_results

from .folders import finished


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
