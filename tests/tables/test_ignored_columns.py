from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from regretless.errors import InputError
from regretless.tables.cells import Cells
from regretless.tables.ignored_columns import first_without_ignored, without_ignored


@pytest.fixture
def tables(tmp_path: Path) -> tuple[str, str, None]:
    (tmp_path / "x.csv").write_text("day,wind,note\n1,2,rain\n")
    (tmp_path / "c.csv").write_text("day,a,total\n1,2,3\n")
    return str(tmp_path / "x.csv"), str(tmp_path / "c.csv"), None


def test_nothing_is_read_where_there_is_nothing_to_ignore(tmp_path: Path) -> None:
    assert without_ignored(tmp_path / "none.csv", ()) == tmp_path / "none.csv"
    assert first_without_ignored(["none.csv", None], (), id="day") == ["none.csv", None]
    np.savez(tmp_path / "c.npz", costs=np.ones((2, 1)))
    assert without_ignored(tmp_path / "c.npz", ["a"]) == tmp_path / "c.npz", "arrays have no columns"


def test_a_column_is_left_out_of_every_table_that_has_it(tables: tuple[str, str, None]) -> None:
    x, c, none = first_without_ignored(tables, ["note", "total"], id="day")
    assert isinstance(x, Cells)
    assert isinstance(c, Cells)
    assert (list(x.columns), list(c.columns), none) == (["day", "wind"], ["day", "a"], None)
    assert list(without_ignored(tables[1], ["note", "total"]).columns) == ["day", "a"], "a later table need not have it"
    assert list(without_ignored(pd.DataFrame({"a": [1], "note": ["x"]}), ["note"]).columns) == ["a"]


def test_a_column_that_no_table_has_is_refused_and_the_probable_one_is_named(tables: tuple[str, str, None]) -> None:
    said = r"no table has a column 'Note' to ignore \('note' is probably meant\); there are day, wind, note, a, total"
    with pytest.raises(InputError, match=said):
        first_without_ignored(tables, ["total", "Note"], id="day")


def test_the_column_that_names_the_rows_is_not_ignored_unless_it_is_the_default(tables: tuple[str, str, None]) -> None:
    with pytest.raises(InputError, match="--id and --ignore both name the column 'day'"):
        first_without_ignored(tables, ["day"], id="day")
    x, _, _ = first_without_ignored(tables, ["day"], id="instance")
    assert list(x.columns) == ["wind", "note"]
