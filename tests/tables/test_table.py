from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import FileError, InputError
from regretless.tables.table import refuse_missing, suffix_of


def test_endings_are_known_in_any_case() -> None:
    assert [suffix_of(name) for name in ("a.csv", "A.CSV", "b.c.parquet", "x/y.npz")] == [
        ".csv", ".csv", ".parquet", ".npz",
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"t\.xlsx: a file of data must end in \.csv, \.parquet, \.npz"):
        suffix_of("t.xlsx")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no file"):
        refuse_missing(tmp_path)
