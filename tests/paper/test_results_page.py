from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from regretless.paper.grid import load_grid
from regretless.storage import write_json

from .folders import finished

pytest.importorskip("matplotlib")
SCRIPT = Path(__file__).parents[2] / "docs" / "make_results.py"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    described = importlib.util.spec_from_file_location("make_results", SCRIPT)
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    monkeypatch.setattr(module, "PICTURES", tmp_path / "pictures")
    monkeypatch.setattr("regretless.paper.drawings.png_file", lambda _: b"")  # the page shows the SVG files
    return module


@pytest.mark.slow
def test_the_page_is_computed_from_the_runs(script: ModuleType, tmp_path: Path) -> None:
    results = tmp_path / "results"
    energy, knapsack = load_grid("energy"), load_grid("knapsack")
    for problem in energy.problems:
        for method, regret in (("two-stage", 100.0), ("map-dc", 90.0), ("spo", 80.0), ("spo-cache", 81.0)):
            finished(results, energy.spec(problem, method), regret=regret)
        finished(results, energy.spec(problem, "map-dc", settings={"p_solve": 0.05}), regret=90.9)
    finished(results, knapsack.spec("knapsack-60", "map-dc"), regret=764.0)
    finished(results, knapsack.spec("knapsack-60", "spo"), regret=500.0)
    for folder in (results / "runs").iterdir():
        write_json(folder / "environment.json", {"torch": "2.13"})
    text = script.page(results)
    assert "17 runs, 0 failed; torch 2.13." in text
    assert ": 1 of 2 cells are within" in text
    assert "Energy-1/2/3, map-dc against a converged two-stage: -10.0 % / -10.0 % / -10.0 %." in text
    assert "Energy-1/2/3, 5 % of the solves against solving every instance, map-dc: +1.0 % / +1.0 % / +1.0 %." in text
    assert "Energy-1/2/3, 5 % of the solves against solving every instance, spo: +1.2 %" in text
    assert "### Q1, Knapsacks: contrastive losses" in text
    assert "regretless reproduce all --seeds 10" in text
    assert (tmp_path / "pictures" / "curves-energy-3.svg").exists()
