from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import FileError, InputError
from regretless.tables.cells import Cells
from regretless.tables.csv_file import encoding_of, find_separator, not_decoded, read_csv


def read(folder: Path, content: str | bytes) -> Cells:
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
        "a;b;;\n1;2;;\n3;4;;\n;\n",
        "\ufeffsep=;\r\na;b\r\n1;2\r\n3;4\r\n",
        "SEP=\t\na\tb\n1\t2\n3\t4\n",
        '"sep=,"\na,b\n1,2\n3,4\n',
    ],
)
def test_what_a_spreadsheet_adds_is_left_out(content: str, tmp_path: Path) -> None:
    assert read(tmp_path, content).columns == {"a": ["1", "3"], "b": ["2", "4"]}


def test_an_empty_row_between_others_is_a_row(tmp_path: Path) -> None:
    found = read(tmp_path, "a,b\n1,2\n,\n3,4\n")
    assert found.columns == {"a": ["1", None, "3"], "b": ["2", None, "4"]}
    assert (found.lines, found.header, found.decimal_commas) == (("line 2", "line 3", "line 4"), "line 1", False)


def test_lines_are_counted_with_the_one_that_declares_the_separator(tmp_path: Path) -> None:
    found = read(tmp_path, 'sep=;\n"wind\nm/s";b\n1;2\n')
    assert (found.columns, found.lines, found.header) == ({"wind\nm/s": ["1"], "b": ["2"]}, ("line 4",), "line 2")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (",wind\n0,3\n", r"line 1: column 1 has no name: name it, or leave it out .*index=False"),
        ("a,b,\n1,2,\n3,4,x\n", r"line 1: column 3 has no name"),
        ("sep=;\n;b\n1;2\n", r"line 2: column 1 has no name"),
        ("a,b\n1,2\n3\n", r"line 3: expected 2 cells as in the header, got 1"),
        ("a,b\n1,2,3\n", r"line 2: expected 2 .*, got 3: put cells with a comma into quotes, .* numbers as 1234\.5"),
        ("wind\n3,5\n", r"line 2: expected 1 cells as in the header, got 2: .* write numbers as 1234\.5"),
        ("a;b\n1;2;3\n", r"line 2: expected 2 .*, got 3: put cells with a semicolon into quotes, as in \"a; b\"$"),
    ],
)
def test_another_kind_of_table_is_refused_with_a_remedy(content: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, content)


def test_unicode_text_of_a_spreadsheet_is_read(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-8-sig"):
        assert read(tmp_path, "höhe\tb\r\n1,5\t2\r\n".encode(encoding)).columns == {"höhe": ["1,5"], "b": ["2"]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            "zone,b\nnord,1\nsüd,2\n".encode("cp1252"),
            r"t\.csv, line 3: the byte 0xfc is not UTF-8 .*: save it as UTF-8",
        ),
        ("a,b\n1,2\n".encode("utf-16-le"), r"t\.csv cannot be read as CSV: it has zero bytes, .*: save it as UTF-8"),
    ],
)
def test_another_encoding_is_refused_with_a_remedy(content: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=said):
        read(tmp_path, content)


@pytest.mark.parametrize(
    ("text", "separator", "above"),
    [
        ("a,b\n1;2", ",", 0),
        ("a;b\n1,2,3", ";", 0),
        ("a\tb\r\n1\t2", "\t", 0),
        ("wind\n1;2,3", ",", 0),
        ("", ",", 0),
        ('"a,b";c', ";", 0),
        ('a;"b ""c"", d";e', ";", 0),
        ('"wind,\nm/s"\tsun\n1\t2', "\t", 0),
        ('5" pipe;b\n"1,5";2', ";", 0),
        ("sep=;\nx[1,2];x[1,3]\n", ";", 1),
        ("Sep=,\r\na,b;c", ",", 1),
        ("sep=;\nwind\n3,5", ";", 1),
    ],
)
def test_the_header_or_the_line_above_it_tells_the_separator(text: str, separator: str, above: int) -> None:
    assert find_separator("x.csv", text) == (separator, above)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b;c", r"x\.csv, line 1: .* separated by a comma and a semicolon: put names .* into quotes, or .* sep=;"),
        ("a\tb;c", r"separated by a semicolon and a tab"),
        ("sep=|\na|b", r"x\.csv, line 1: sep= must be followed by a comma, a semicolon or a tab, got '\|'"),
        ("sep=;\na,b\n1,2", r"sep= declares a semicolon, but .* separated by a comma: correct the line"),
    ],
)
def test_a_separator_that_is_not_certain_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        find_separator("x.csv", text)


@pytest.mark.parametrize(("content", "encoding"), [(b"", "utf-8-sig"), (b"\xff\xfea\0", "utf-16"), (b"a", "utf-8-sig")])
def test_a_byte_order_mark_tells_utf_16(content: bytes, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    assert encoding_of(tmp_path / "t.csv") == encoding


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_first_line_that_is_not_decoded_is_named(mark: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(mark + "ä\nb\n".encode() + b"c\xe4\n")
    assert not_decoded(tmp_path / "t.csv").startswith("line 3: the byte 0xe4 is not UTF-8 (")
