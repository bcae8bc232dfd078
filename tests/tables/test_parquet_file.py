from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import FileError, InputError
from regretless.tables.parquet_file import read_parquet


def test_parquet_is_read_and_its_cells_are_checked(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"

    def write(columns: dict[str, list[object]]) -> None:
        parquet.write_table(arrow.table(columns), path)

    write({"instance": [1, 2], "a": [1, 2], "b": [0.5, True * 1.0]})
    table = read_parquet(path)
    assert (table.names, table.keys) == (("a", "b"), {"instance": ("1", "2")})
    assert table.values.tolist() == [[1.0, 0.5], [2.0, 1.0]]
    for cell, message in ((None, "the cell is empty"), (float("nan"), "finite number, got 'nan'")):
        write({"a": [1.0, cell]})
        with pytest.raises(InputError, match=f"row 2, column 'a': .*{message}"):
            read_parquet(path)
    write({"a": ["x"]})
    with pytest.raises(InputError, match="row 1, column 'a': expected a finite number, got 'x'"):
        read_parquet(path)
    path.write_bytes(b"PAR1 nonsense")
    with pytest.raises(FileError, match="cannot be read as Parquet"):
        read_parquet(path)
