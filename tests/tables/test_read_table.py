from __future__ import annotations

from pathlib import Path

import pytest

from regretless.tables.read_table import read_table


def test_the_ending_chooses_the_reader_and_keys_are_text(tmp_path: Path) -> None:
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    (tmp_path / "t.csv").write_text("instance,a\n1,2\n")
    parquet.write_table(arrow.table({"instance": ["1"], "a": [2]}), tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        table = read_table(tmp_path / name)
        assert (table.names, table.keys, table.values.tolist()) == (("a",), {"instance": ("1",)}, [[2.0]])
        assert read_table(tmp_path / "t.csv", keys=()).values.tolist() == [[1.0, 2.0]]
