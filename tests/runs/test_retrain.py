from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.runs.retrain import retrain_spec
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
