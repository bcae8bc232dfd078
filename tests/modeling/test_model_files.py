from __future__ import annotations

import gzip

import pytest

from regretless.errors import FileError, InputError
from regretless.modeling import read

MPS = """NAME t
OBJSENSE
    MAX
ROWS
 N obj
 L c1
 E c2
 N other
COLUMNS
    M1 'MARKER' 'INTORG'
    x[0] obj 3 c1 2
    x[0] c2 1
    x[1] obj 2 c1 1
    M1 'MARKER' 'INTEND'
    y obj -1 c2 1
    y other 1
RHS
    RHS obj -5 c1 7
    RHS c2 4
BOUNDS
 UP BND x[0] 10
 UP BND x[1] 3
 MI BND y
ENDATA
"""
LP = """\\ a comment
Maximize
 obj: 3 x0 + 2 x1 - y + 5
Subject To
 c1: 2 x0 + x1 <= 7
 c2: x0 + y = 4
Bounds
 x0 <= 10
 x1 <= 3
 y free
General
 x0 x1
End
"""


def _file(folder, name: str, content: str | bytes):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_mps_and_lp_and_their_gzipped_copies_are_one_model(tmp_path):
    reads = [
        read(_file(tmp_path, "a.mps", MPS)),
        read(str(_file(tmp_path, "a.mps.gz", gzip.compress(MPS.encode())))),
        read(_file(tmp_path, "a.lp", LP)),
        read(_file(tmp_path, "A.LP.GZ", gzip.compress(LP.encode()))),
    ]
    assert len({one.milp.fingerprint for one in reads}) == 1
    assert {one.sense for one in reads} == {"max"}
    assert {one.milp.constant for one in reads} == {5.0}
    assert reads[0].cost_names == ("x[0]", "x[1]", "y")
    assert reads[0].milp.lower.tolist() == [0.0, 0.0, -float("inf")]


def test_reading_prints_nothing(tmp_path, capfd):
    read(_file(tmp_path, "a.mps", MPS))
    read(_file(tmp_path, "a.lp", LP))
    for name, content in (("b.lp", "hello\n"), ("c.lp", LP.replace("c2: x0 +", "c2: x0 = 1 -> x1 +"))):
        with pytest.raises((FileError, InputError)):
            read(_file(tmp_path, name, content))
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


def test_nothing_is_left_beside_the_file(tmp_path):
    read(_file(tmp_path, "a.mps", MPS))
    assert [path.name for path in tmp_path.iterdir()] == ["a.mps"]


DAMAGED = {
    "empty.mps": "",
    "empty.lp": "",
    "words.mps": "hello world\n this is no model\n",
    "words.lp": "hello world\n this is no model\n",
    "cut.mps": MPS[:200],
    "cut_late.mps": MPS[:-10],
    "cut.lp": LP[:60],
    "word_for_number.mps": MPS.replace(" 10", " abc"),
    "nan.mps": MPS.replace("obj 3", "obj nan"),
    "unknown_variable.mps": MPS.replace(" MI BND y", " MI BND z"),
    "unknown_row.mps": MPS.replace("y other 1", "y nowhere 1"),
    "unquoted.mps": MPS.replace("'", ""),
    "twice.mps": MPS.replace("    y obj", "    x[0] c1 1\n    y obj"),
    "binary.mps": b"\xff\xfe\x00\x01",
    "plain.mps.gz": MPS,
    "cut.mps.gz": gzip.compress(MPS.encode())[:-12],
    "word_for_number.lp": LP.replace("<= 7", "<= abc"),
    "model.txt": MPS,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_an_error_that_names_it(tmp_path, name):
    with pytest.raises(FileError, match=name.replace(".", r"\.")):
        read(_file(tmp_path, name, DAMAGED[name]))


def test_a_file_in_another_encoding_is_named_with_the_line_and_what_to_do(tmp_path):
    content = MPS.replace("y", "\xfc").encode("latin-1")
    line = MPS[: MPS.index("y")].count("\n") + 1
    for name, given in (("a.mps", content), ("a.mps.gz", gzip.compress(content))):
        with pytest.raises(
            FileError, match=rf"{name}, line {line}: the byte 0xfc is not UTF-8: save the file as UTF-8"
        ):
            read(_file(tmp_path, name, given))


def test_a_row_with_two_sides_in_an_lp_file_is_named_with_what_to_do(tmp_path):
    two = LP.replace(" c2:", " c3: -3 <= x0 - x1 <= 3\n c2:")
    with pytest.raises(FileError, match=r"write 'c3: -3 <= x0 - x1 <= 3' as two rows, or use \.mps"):
        read(_file(tmp_path, "a.lp", two))
    with pytest.raises(FileError, match=r"a\.lp is damaged") as error:
        read(_file(tmp_path, "a.lp", LP.replace("<= 7", "<= abc")))
    assert "two rows" not in str(error.value), "its bounds have two sides, which are read"


def test_a_folder_is_no_model_file(tmp_path):
    (tmp_path / "a.mps").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        read(tmp_path / "a.mps")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.mps", MPS.replace("ENDATA", "SOS\n S1 SOS s1 1\n    x[0] 1\n    x[1] 2\nENDATA"), "SOS"),
        ("a.mps", MPS.replace("ENDATA", "INDICATORS\n IF c1 x[1] 1\nENDATA"), "indicator"),
        ("a.mps", MPS.replace("ENDATA", "QCMATRIX c1\n    x[0] x[0] 1\nENDATA"), "quadratic constraints .*cvxpy"),
        ("a.mps", MPS.replace("ENDATA", "QUADOBJ\n    x[0] x[0] 1\nENDATA"), "quadratic objective"),
        ("a.mps", MPS.replace(" MI BND y", " SC BND y 8"), "semi-continuous"),
        ("a.lp", LP.replace("End", "SOS\n s1: S1:: x0:1 x1:2\nEnd"), "SOS"),
        ("a.lp", LP.replace(" c2:", " c3: x0 = 1 -> x1 <= 3\n c2:"), "indicator"),
        ("a.lp", LP.replace("+ 5", "+ [ x0 ^2 ]/2"), "quadratic objective"),
        ("a.lp", LP.replace(" c2:", " c3: [ x0 ^2 ] + x1 <= 3\n c2:"), "quadratic constraints"),
        ("a.lp", LP.replace("End", "Semi-continuous\n x1\nEnd"), "semi-continuous"),
    ],
)
def test_what_is_not_linear_is_refused_with_the_reason(tmp_path, name, content, reason):
    with pytest.raises(InputError, match=reason):
        read(_file(tmp_path, name, content))


def test_lines_may_end_as_on_windows(tmp_path):
    (tmp_path / "unix.mps").write_bytes(MPS.encode())
    (tmp_path / "windows.mps").write_bytes(MPS.replace("\n", "\r\n").encode())
    one, other = (read(tmp_path / name) for name in ("unix.mps", "windows.mps"))
    assert one.milp.fingerprint == other.milp.fingerprint


def test_windows_needs_a_temporary_folder_that_highs_can_open(tmp_path, monkeypatch):
    (tmp_path / "m.mps").write_text(MPS)
    place = tmp_path / "José"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    read(tmp_path / "m.mps")
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(FileError, match="set TMPDIR to one with an ASCII name"):
        read(tmp_path / "m.mps")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.mps", MPS.replace(" UP BND x[1] 3", " UP BND x[1] -3")),
        ("a.lp", LP.replace(" x1 <= 3", " x1 <= -3")),
    ],
)
def test_a_negative_upper_bound_needs_a_lower_one(tmp_path, name, content):
    with pytest.raises(FileError, match=r"a\.\w+: the variable 'x.*' has the upper bound -3 and the lower bound 0"):
        read(_file(tmp_path, name, content))


def test_small_coefficients_are_read(tmp_path):
    small = MPS.replace("x[0] c2 1", "x[0] c2 1e-10").replace("y obj -1 c2 1", "y obj -1 c2 1e-10")
    milp = read(_file(tmp_path, "a.mps", small)).milp
    assert (milp.written("A")[1].toarray()[[0, 2]] == 1e-10).all()


def test_what_highs_leaves_out_is_an_error_with_its_words(tmp_path):
    spoiled = MPS.replace("BOUNDS", "RANGES\n    R obj 5\nBOUNDS")
    with pytest.raises(FileError, match=r'does not read all of .*a\.mps: Row name "obj" in RANGES .* ignored'):
        read(_file(tmp_path, "a.mps", spoiled))


def test_a_temporary_folder_that_cannot_be_written_is_an_error_with_a_remedy(tmp_path, monkeypatch):
    (tmp_path / "m.mps").write_text(MPS)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(FileError, match=r"cannot make a temporary copy of \S*m\.mps: .*; set TMPDIR to another folder"):
        read(tmp_path / "m.mps")
