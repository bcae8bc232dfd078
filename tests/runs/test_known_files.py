from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regretless.errors import FileError
from regretless.runs.known_files import found_before, read_known, write_known
from regretless.solvers.found_decisions import FoundDecisions


def test_decisions_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = FoundDecisions(3)
    found.add(np.array([[1.0, 0.5, 0.0], [0.0, 0.0, 2.0]]))
    write_known(tmp_path, found)
    known = read_known(tmp_path, 3)
    assert known is not None
    assert known.tolist() == [[1.0, 0.5, 0.0], [0.0, 0.0, 2.0]]
    assert len(found_before(tmp_path, 3)) == 2
    with pytest.raises(FileError, match="must have 4 columns"):
        read_known(tmp_path, 4)


def test_a_run_without_decisions_has_none(tmp_path: Path) -> None:
    assert read_known(tmp_path, 3) is None
    assert len(found_before(tmp_path, 3)) == 0
