from __future__ import annotations

from pathlib import Path

import pytest
import torch

from regretless.data import Dataset
from regretless.errors import FileError
from regretless.runs.retrain import _spread, retrain_spec
from regretless.runs.spec import Spec
from regretless.storage import save_state, write_json


def test_the_specification_is_that_of_the_first_run_with_other_files(tmp_path: Path) -> None:
    old = Spec("m.lp", "map-dc", epochs=7, options={"features": "x", "costs": "c", "constraints": "r", "test": 0.2})
    write_json(tmp_path / "spec.json", old.as_dict())
    save_state(tmp_path / "weights.safetensors", {}, kind="weights")
    with pytest.raises(FileError, match="has no data to go on from: only runs on model files can be retrained"):
        retrain_spec(tmp_path, {})
    save_state(tmp_path / "data.safetensors", {}, kind="data")
    new = retrain_spec(tmp_path, {"features": "x2", "costs": "c2"}, lr=0.01)
    assert (new.problem, new.method, new.epochs, new.lr, new.retrain) == ("m.lp", "map-dc", 7, 0.01, str(tmp_path))
    assert new.options == {"features": "x2", "costs": "c2", "test": 0.2}
    assert Spec.from_dict(new.as_dict()) == new


def numbered(start: int, end: int) -> Dataset:
    rows = torch.arange(float(start), float(end))[:, None]
    return Dataset(rows, rows, rows)


@pytest.mark.parametrize(
    ("old", "new", "sizes"),
    [
        ((60, 20, 20), 100, (120, 40, 40)),
        ((60, 20, 20), 2, (62, 20, 20)),
        ((10, 50, 0), 20, (30, 50, None)),  # more are held out already than the shares of all rows
        ((10, 0, 0), 5, (15, None, None)),
        ((100, 1, 20), 9, (100, 10, 20)),  # too few rows for the shares: the first part takes them
    ],
)
def test_new_rows_are_spread_by_the_shares_of_all_rows(
    old: tuple[int, int, int], new: int, sizes: tuple[int | None, ...]
) -> None:
    ends = torch.tensor(old).cumsum(0).tolist()
    parts = [numbered(end - size, end) if size else None for end, size in zip(ends, old, strict=True)]
    assert parts[0] is not None
    grown = _spread((parts[0], parts[1], parts[2]), numbered(1000, 1000 + new), (0.2, 0.2), 0)
    assert tuple(None if part is None else len(part) for part in grown) == sizes
    added = []
    for before, after in zip(parts, grown, strict=True):
        if before is not None and after is not None:
            assert torch.equal(after.features[: len(before)], before.features), "no row moves to another part"
            added += after.features[len(before) :, 0].tolist()
    assert sorted(added) == list(range(1000, 1000 + new))


def test_the_seed_decides_which_new_rows_are_held_out() -> None:
    def held_out(seed: int) -> list[float]:
        parts = _spread((numbered(0, 6), numbered(6, 8), numbered(8, 10)), numbered(10, 110), (0.2, 0.2), seed)
        assert parts[2] is not None
        return parts[2].features[:, 0].tolist()

    assert held_out(3) == held_out(3)
    assert held_out(3) != held_out(4)
