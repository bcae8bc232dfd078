from __future__ import annotations

from pathlib import Path

import pytest

from regretless.cli.writable import refuse_unwritable
from regretless.errors import FileError


def test_places_that_can_be_made_pass_and_nothing_is_made(tmp_path: Path) -> None:
    refuse_unwritable(tmp_path / "a" / "b")
    refuse_unwritable(tmp_path / "a" / "b.csv", folder=False)
    refuse_unwritable(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, folder in ((tmp_path / "file", True), (tmp_path / "file" / "run", True), (tmp_path, False)):
        with pytest.raises(FileError, match="cannot write"):
            refuse_unwritable(path, folder=folder)
    with pytest.raises(FileError, match="choose another --log"):
        refuse_unwritable(tmp_path / "file" / "d.db", folder=False, option="--log")
