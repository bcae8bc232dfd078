from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import FileError, InputError
from regretless.tables.csv_file import read_csv


def read(folder: Path, content: str | bytes) -> tuple[dict[str, list[str]], list[str]]:
    (folder / "t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_csv(folder / "t.csv")


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3,4\n",
        "\ufeffa,b\r\n1,2\r\n3,4\r\n",
        "a,b\r1,2\r3,4\r",
        ' a , b \n"1",2\n3, 4\n',
        "a,b,,\n1,2,,\n3,4,,\n",
        "a,,b\n1,,2\n3,,4\n",
        "a,b\n1,2,\n3,4,\n",
        "a,b\n1,2\n3,4\n,\n , \n",
        "a,b,\n1,2,\n3,4,\n,,\n\n",
    ],
)
def test_what_a_spreadsheet_adds_is_left_out(content: str, tmp_path: Path) -> None:
    assert read(tmp_path, content)[0] == {"a": ["1", "3"], "b": ["2", "4"]}


def test_an_empty_row_between_others_is_a_row(tmp_path: Path) -> None:
    assert read(tmp_path, "a,b\n1,2\n,\n3,4\n") == (
        {"a": ["1", "", "3"], "b": ["2", "", "4"]},
        ["line 2", "line 3", "line 4"],
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (",wind\n0,3\n", r"line 1: column 1 has no name: name it, or leave it out .*index=False"),
        ("a,b,\n1,2,\n3,4,x\n", r"line 1: column 3 has no name"),
        ("a;b\n1,5;2\n", r"separated by commas, got 'a;b': save the table with commas and decimal points"),
        ('"a";"b"\n1;2\n', r"separated by commas"),
        ("sep=;\na;b\n1;2\n", r"separated by commas, got 'sep=;'"),
        ("sep=,\na,b\n1,2\n", r"must name the columns, got 'sep=,': leave it out"),
        ("a,b\n1,2\n3\n", r"line 3: expected 2 cells as in the header, got 1"),
        ("a,b\n1,2,3\n", r"line 2: expected 2 cells as in the header, got 3: put cells with a comma into quotes"),
    ],
)
def test_another_kind_of_table_is_refused_with_a_remedy(content: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, content)


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_another_encoding_is_refused_with_a_remedy(encoding: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot be read as CSV in UTF-8: .*: save it as UTF-8"):
        read(tmp_path, "höhe,b\n1,2\n".encode(encoding))
