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


def test_a_folder_is_no_file_and_is_not_proposed(tmp_path: Path) -> None:
    (tmp_path / "prices").mkdir()
    with pytest.raises(FileError, match=r"prices is a folder: give the path of a file$"):
        refuse_missing(tmp_path / "prices")
    with pytest.raises(FileError, match=r"there is no file .*price$"):
        refuse_missing(tmp_path / "price")


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="there are no devices in the file system")
def test_a_device_is_not_proposed_in_its_own_place() -> None:
    with pytest.raises(FileError, match=r"there is no file /dev/null$"):
        refuse_missing(Path("/dev/null"))


def test_a_folder_that_cannot_be_read_is_no_reason_for_another_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(FileError, match=r"there is no file .*price\.csv$"):
        refuse_missing(tmp_path / "price.csv")
