from __future__ import annotations

from pathlib import Path

import pytest
import torch

from regretless.errors import FileError
from regretless.runs import Spec, run
from regretless.runs.held_out import FILE, MOST_FEATURES, _spread, read_held_out
from regretless.storage import load_state, save_state


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held-out")
    (folder / "m.lp").write_text("minimize\n v: x + y\nsubject to\n one: x + y >= 1\nbinary\n x y\nend\n")
    rows = [(f"day {i}", (i * 7) % 5 - 2.0) for i in range(20)]
    (folder / "x.csv").write_text("instance,a\n" + "".join(f"{day},{a}\n" for day, a in rows))
    (folder / "c.csv").write_text("instance,x,y\n" + "".join(f"{day},{3 + a * a},{4 + a}\n" for day, a in rows))
    options = {"features": str(folder / "x.csv"), "costs": str(folder / "c.csv"), "test": 0.25}
    for split in ("chronological", "random"):
        spec = Spec(str(folder / "m.lp"), "map-dc", epochs=1, options=options | {"split": split, "seed": 3})
        run(spec, folder / split, progress=False)
    return folder


@pytest.mark.parametrize("split", ["chronological", "random"])
def test_the_view_belongs_to_the_test_instances(split: str, folder: Path) -> None:
    view = read_held_out(folder / split)
    assert view is not None
    assert view.names is not None
    assert (len(view), view.on, view.sense, view.cost_names) == (5, "test", "min", ("x", "y"))
    if split == "chronological":
        assert view.names == tuple(f"day {i}" for i in range(15, 20))
    for k, name in enumerate(view.names):
        a = (int(name.split()[1]) * 7) % 5 - 2.0
        costs = torch.tensor([3 + a * a, 4 + a], dtype=torch.float64)
        assert view.optimal[k] == pytest.approx(float(costs.min()))
        assert view.regrets[k] == pytest.approx(float(view.decided[k] @ costs - costs.min()))
        assert view.two_stage_regrets[k] == pytest.approx(float(view.two_stage[k] @ costs - costs.min()))
        assert float(view.best[k] @ costs) == pytest.approx(float(view.optimal[k]))
    assert view.features.shape == (15, 1)


def test_a_run_of_a_named_problem_has_no_view(tmp_path: Path) -> None:
    assert read_held_out(tmp_path) is None


def test_a_damaged_view_is_named(folder: Path, tmp_path: Path) -> None:
    state = load_state(folder / "random" / FILE, kind="held_out")
    save_state(tmp_path / FILE, state | {"best": state["best"][:2]}, kind="held_out")
    with pytest.raises(FileError, match=r"held_out\.safetensors.*different numbers"):
        read_held_out(tmp_path)
    del state["sense"]
    save_state(tmp_path / FILE, state, kind="held_out")
    with pytest.raises(FileError, match="sense"):
        read_held_out(tmp_path)


def test_features_that_are_kept_are_few_and_spread() -> None:
    rows = torch.arange(5000.0)[:, None]
    kept = _spread(rows)
    assert len(kept) == MOST_FEATURES
    assert kept[-1] > 4900
    assert torch.equal(_spread(torch.ones(4, 3, 2)), torch.ones(4, 2, dtype=torch.float64))
