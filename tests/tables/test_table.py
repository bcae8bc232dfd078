from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.tables.table import ordered, suffix_of, suffix_to_write


def test_suffixes_are_read_in_any_case() -> None:
    assert [suffix_of(name) for name in ("a.csv", "A.CSV", "b.c.parquet", "x/y.npz", "z.XLSX")] == [
        ".csv", ".csv", ".parquet", ".npz", ".xlsx",
    ]  # fmt: skip


@pytest.mark.parametrize(("suffix", "hint"), [("tsv", "; the name of a table with semicolons or"), ("json", "")])
def test_another_suffix_is_refused_with_what_to_do(suffix: str, hint: str) -> None:
    said = f"t.{suffix}: a data file must end in .csv, .xlsx, .xlsm, .xls, .ods, .parquet, .npz{hint}"
    with pytest.raises(InputError, match=re.escape(said)):
        suffix_of(f"t.{suffix}")


def test_spreadsheets_are_not_written() -> None:
    assert suffix_to_write("d.CSV") == ".csv"
    with pytest.raises(InputError, match=re.escape("must end in .csv, .parquet, .npz; spreadsheets open .csv files")):
        suffix_to_write("d.xlsx")


def test_columns_come_in_the_order_wanted() -> None:
    values = np.arange(6.0).reshape(1, 2, 3)
    assert ordered(Path("x"), ["a", "b", "c"], values, ["c", "a", "b"], "cost").tolist() == [[[2, 0, 1], [5, 3, 4]]]


def test_missing_and_unknown_columns_are_listed_but_not_all_of_a_thousand() -> None:
    wanted = [f"x{i}" for i in range(1000)]
    with pytest.raises(InputError, match=r"missing: x0, x1, x2, x3, x4 and 995 more; unknown: z") as error:
        ordered(Path("c.csv"), ["z"], np.zeros((1, 1)), wanted, "cost")
    assert len(str(error.value)) < 300
