"""The comparison with a peer: its arithmetic, its page, and that both sides see the same days in the same order."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regretless import Dataset, TwoStage, fit

FOLDER = Path(__file__).parents[2] / "benchmarks" / "peers"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    # The scripts import each other by their plain names, as they do when they are run.
    monkeypatch.syspath_prepend(str(FOLDER))
    names = [path.stem for path in FOLDER.glob("*.py")]
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield load
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


def rows(figures: ModuleType, ours: list[float], theirs: list[float], **cell: Any) -> list[dict[str, Any]]:
    where = {"problem": "p", "method": "spo", "p_solve": 1.0} | cell
    return [
        where | figures.of_side(side) | {"cpu": value, "wall": 2 * value, "repeat": k}
        for side, values in ((figures.OURS, ours), (figures.ORTOOLS, theirs))
        for k, value in enumerate(values)
    ]


def test_a_ratio_is_the_median_over_the_repeats_and_knows_its_target(module: Any) -> None:
    figures = module("figures")
    # The machine is slow in the second and third repeat; the fourth was not measured on the other side.
    (ratio,) = figures.ratios(rows(figures, [1.0, 20.0, 30.0, 5.0], [15.0, 320.0, 420.0]), "p")
    assert ratio.cpu == pytest.approx(15.0)
    assert ratio.wall == pytest.approx(15.0)
    assert ratio.target == 15.0


def test_targets_are_those_of_each_solver_and_share(module: Any) -> None:
    figures = module("figures")
    assert figures.target(figures.OURS, figures.GUROBI, "spo", 1.0) == 3.0
    assert figures.target(figures.OURS, figures.GUROBI, "map", 1.0) == 8.0
    assert figures.target(figures.OURS, figures.ORTOOLS, "nce", 0.05) == 2.5
    assert figures.target(figures.OURS, figures.SLICED[0], "nce", 0.05) is None
    assert figures.target(figures.OWN_LOOP, figures.ORTOOLS, "nce", 0.05) == 3.0
    assert figures.target(figures.OWN_STEPS, figures.ORTOOLS, "nce", 0.05) == 3.0
    assert figures.target(figures.TORCH_LOOP, figures.ORTOOLS, "nce", 0.05) is None


def test_the_gain_of_fit_is_also_given_as_a_geometric_mean(module: Any) -> None:
    figures = module("figures")
    times = dict(zip(figures.METHODS, (2.0, 4.0, 8.0, 4.0), strict=True))
    rows = [
        {"problem": "p", "p_solve": 0.05, "method": method, "cpu": time, "wall": time, "repeat": 0}
        | figures.of_side(side)
        for method, slow in times.items()
        for side, time in ((figures.OURS, 1.0), (figures.ORTOOLS, slow))
    ]
    last = figures.ratios(rows, "p")[-1]
    assert (last.what, last.target) == ("p, geometric mean at 5%, PyEPO, OR-Tools over ours", 4.0)
    assert last.cpu == pytest.approx(4.0)
    assert len(figures.ratios(rows[:-1], "p")) == 3


def test_cells_that_one_side_did_not_measure_have_no_ratio(module: Any) -> None:
    figures = module("figures")
    measured = [row for row in rows(figures, [1.0], [2.0]) if row["side"] == "ours"]
    assert figures.ratios(measured, "p") == []


def test_page_keeps_what_stands_around_the_marks(module: Any) -> None:
    page = module("page")
    text = f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n"
    new = page.replaced(text, "new")
    assert new.startswith("before\n")
    assert new.endswith("\nafter\n")
    assert "new" in new
    assert "old" not in new
    assert page.replaced(new, "new") == new


def test_page_without_marks_is_refused(module: Any) -> None:
    with pytest.raises(ValueError, match="marks"):
        module("page").replaced("no marks here", "new")


def test_missed_targets_are_written_as_missed(module: Any) -> None:
    figures, page = module("figures"), module("page")
    text = page.part(rows(figures, [1.0], [14.0]), ["a condition"], "a.svg")
    assert "| 100%: PyEPO, OR-Tools over regretless | - | - | **14** | - | 15 |" in text
    assert "| met |" not in text


def test_picture_is_the_same_for_the_same_rows(module: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the picture is drawn with matplotlib")
    figures, picture = module("figures"), module("picture")
    measured = rows(figures, [1.0], [2.0])
    for name in ("a", "b"):
        picture.draw(measured, tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "Blackbox" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_labels_of_the_picture_do_not_touch_labels_or_bars_beside_them(module: Any) -> None:
    pytest.importorskip("matplotlib", reason="the picture is drawn with matplotlib")
    figures, picture = module("figures"), module("picture")
    measured = [
        {"problem": "p", "p_solve": 0.05, "method": method, "cpu": cpu, **figures.of_side(side)}
        for method in figures.METHODS
        for side, cpu in ((figures.OURS, 0.0232), (figures.ORTOOLS, 0.0645), (figures.GUROBI, 0.0459))
    ]
    figure = picture.drawn(measured)
    figure.draw_without_rendering()
    panel = figure.axes[-1]
    labels = [text.get_window_extent() for text in panel.texts]
    bars = [bar.get_window_extent() for bar in panel.patches]
    assert len(labels) == len(bars) == 12
    for k, label in enumerate(labels):
        assert not any(label.overlaps(other) for other in labels[k + 1 :])
        assert not any(label.overlaps(bar) for bar in bars if bar.x0 > label.x0 or bar.x1 < label.x0)


def test_job_survives_the_command_line(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = module("cells")
    job = cells.Job("a.npz", ("nce", "map"), 0.05, 3, 20, backend="gurobi", loop="loader")
    monkeypatch.setattr(sys, "argv", ["ours.py", job.as_argument()])
    read = cells.read_job()
    assert json.loads(read.as_argument()) == json.loads(job.as_argument())


def test_exported_order_is_the_one_that_fit_uses(module: Any) -> None:
    seen: list[int] = []

    class Recorder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bias = nn.Parameter(torch.zeros(1))

        def forward(self, x: Tensor) -> Tensor:
            seen.extend(x[:, 0].int().tolist() if self.training else [])
            return x * 0 + self.bias

    days = torch.arange(10.0)[:, None]
    fit(Recorder(), TwoStage(), Dataset(days, days, days), epochs=3, batch_size=4, seed=7, progress=False)
    assert seen == module("ours").orders(10, 3, 7).flatten().tolist()


def test_export_holds_the_data_and_the_first_weights(module: Any, tmp_path: Path) -> None:
    module("ours").export("synthetic-knapsack-120", tmp_path / "data.npz", seeds=1, epochs=2)
    data = np.load(tmp_path / "data.npz")
    assert data["features"].shape == (552, 48, 8)
    assert data["first_weight_0"].shape == (1, 8)
    assert data["orders_0"].shape == (2, 552)
    assert np.all(data["solutions"] @ data["weights"] <= data["capacity"][0])


def loss_rows(**regrets: list[float]) -> list[dict[str, Any]]:
    """Rows of one cell of degree 4: a side and a name, and regrets by seed."""
    return [
        {"deg": 4, "n": 100, "seed": seed, "side": key.split("_")[0], "name": key.split("_")[1], "regret": value}
        for key, values in regrets.items()
        for seed, value in enumerate(values)
    ]


def test_a_cell_is_won_against_the_best_loss_of_the_peer(module: Any) -> None:
    page = module("losses_page")
    its = {"pyepo_SPO+": [9.0, 11.0], "pyepo_PFY": [8.0, 9.0]}
    assert page.wins(loss_rows(**its, **{"ours_map-dc": [8.0, 8.8]}), "map-dc") == (1, 1)
    assert page.wins(loss_rows(**its, **{"ours_map-dc": [8.0, 9.2]}), "map-dc") == (0, 1)
    assert page.wins(loss_rows(**its), "map-dc") == (0, 0)


def test_the_leaderboard_names_the_losses_of_the_peer_best_first(module: Any) -> None:
    page = module("losses_page")
    rows = loss_rows(**{"pyepo_SPO+": [9.0, 11.0], "pyepo_PFY": [8.0, 9.0], "ours_map-dc": [7.0, 8.0]})
    assert "| 100 | 4 | PFY 8.50 (0.50), SPO+ 10.00 (1.00) | 7.50 (0.50) | - |" in page.leaderboard_part(rows)


def test_a_line_of_the_page_has_a_column_per_method_and_bold_cells_below_their_targets(module: Any) -> None:
    page, figures = module("page"), module("figures")
    found = [
        figures.Ratio("", 4.0, 4.0, 2.5, "5%: A over B", "nce"),
        figures.Ratio("", 2.0, 2.0, 2.5, "5%: A over B", "map"),
        figures.Ratio("", 9.0, 9.0, 3.0, "5%: A over B", "spo"),
    ]
    assert page._cells(found).splitlines()[2:] == ["| 5%: A over B | 4 | **2** | 9 | - | 2.5 / 2.5 / 3 |"]


TAKES_TURNS = """
import sys
sys.path.insert(0, sys.argv[1])
from cells import Clock, Job
job = Job("", (), 1.0, 0, 8, turns=True)
with job.turn():
    pass
with job.turn(), Clock(job) as clock:
    for epoch in range(8):
        with open(sys.argv[2], "a") as file:
            file.write(sys.argv[3])
        clock.epoch_done()
print('{"peak_mb": 1, "name": "%s"}' % sys.argv[3])
"""


def test_the_sides_take_turns_of_some_epochs(module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compare = module("compare")

    def start(side: str, argument: str, errors: Any) -> subprocess.Popen[str]:
        code = "raise SystemExit('no license')" if side == "absent" else TAKES_TURNS
        command = [sys.executable, "-c", code, str(FOLDER), str(tmp_path / "epochs"), side]
        piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
        return subprocess.Popen(command, text=True, **piped)

    monkeypatch.setattr(compare, "start", start)
    found = compare.in_turns({(side, "", ""): "" for side in ("a", "absent", "b")})
    assert (tmp_path / "epochs").read_text() == "aaaabbbbaaaabbbb"
    assert found["a", "", ""] == [{"peak_mb": 1, "name": "a"}]
    assert str(found["absent", "", ""]) == "no license"
