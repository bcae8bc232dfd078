from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from regretless.errors import FileError, InputError
from regretless.tables.cells import frame_cells
from regretless.tables.read_table import read_cells


def test_a_parquet_file_and_a_data_frame_have_the_same_cells(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "when": pd.to_datetime(["2024-01-31 12:30", None]),
            "what": pd.Categorical(["b", None]),
            "much": [1.5, np.nan],
            "many": pd.array([3, None], dtype="Int64"),
            "on": [True, False],
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    expected = {
        "when": [dt.datetime(2024, 1, 31, 12, 30), None],
        "what": ["b", None],
        "much": [1.5, None],
        "many": [3, None],
        "on": [True, False],
    }
    assert read_cells(tmp_path / "t.parquet").columns == expected
    assert frame_cells(frame).columns == expected
    (tmp_path / "t.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(FileError, match="cannot be read as Parquet"):
        read_cells(tmp_path / "t.parquet")


def test_the_index_of_a_data_frame_in_a_parquet_file_is_no_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"wind": [1.0, 2.0]}, index=[7, 9])
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet: the column '__index_level_0__' is the index of .*index=False"):
        read_cells(tmp_path / "t.parquet")
    frame.rename_axis("day").to_parquet(tmp_path / "t.parquet")
    assert read_cells(tmp_path / "t.parquet").columns == {"wind": [1.0, 2.0], "day": [7, 9]}


def test_codes_with_gaps_in_a_parquet_file_stay_integers(tmp_path: Path) -> None:
    codes = pd.DataFrame({"code": pd.array([2**53 + 1, None], dtype="Int64")})
    codes.to_parquet(tmp_path / "t.parquet")
    assert read_cells(tmp_path / "t.parquet").columns == {"code": [2**53 + 1, None]}
