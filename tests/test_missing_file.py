from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.missing_file import refuse_missing


def test_the_file_that_is_probably_meant_is_named(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").touch()
    refuse_missing(tmp_path / "prices.csv")
    with pytest.raises(FileError, match=r"there is no file .*price\.csv; did you mean .*prices\.csv\?$"):
        refuse_missing(tmp_path / "price.csv")
    for name in ("weather.csv", "nowhere/prices.csv"):
        with pytest.raises(FileError, match=r"there is no file .*\.csv$"):
            refuse_missing(tmp_path / name)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no file"):
        refuse_missing(tmp_path)
