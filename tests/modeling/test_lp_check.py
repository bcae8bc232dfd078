from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.modeling import read
from regretless.modeling.lp_check import binary_names, refuse_misread, unread_part

TEXT = "minimize\n obj: x + 2 y + 5 - 1\n{st}\n {rows}\nbounds\n -1 <= x <= 4\nend\n"


def lp(rows: str, st: str = "subject to") -> str:
    return TEXT.format(rows=rows, st=st)


@pytest.mark.parametrize(
    ("rows", "number"),
    [
        ("c1: x + y + 3 >= 1", "3"),
        ("c1: x + 2.5 + y >= 1", "2.5"),
        ("c1: - 3 + x >= 1", "3"),
        ("c0: x >= 1\n c1: 1e2 + x >= 1", "1e2"),
        ("c1: 2 3 x >= 1", "2"),
    ],
)
@pytest.mark.parametrize("st", ["subject to", "Such That", "st", "s.t."])
def test_a_number_among_the_terms_of_a_row_is_refused(rows: str, number: str, st: str) -> None:
    with pytest.raises(FileError, match=rf"m\.lp: the row 'c1' has the number {number} among its terms: move it"):
        refuse_misread(Path("m.lp"), lp(rows, st))


@pytest.mark.parametrize(
    "rows",
    [
        "c1: 2 x + 3 y >= -1\n - x + y >= 2",
        "c1: x + y >= - 1\n 3 x + y >= 2\n x - 4 y <= 1e3",
        "c1: +3 x\n + 4 y\n >=\n 2\n c2: x = 1",
        "c1: x1 + y(2) - z.3 <= 4\n\\ c2: x + 3 >= 1",
        "c1: 3 e1 + 2e1 y >= 1",
        "c1: x + y + 0 >= 1",
        "c1: [ x ^ 2 + y ^ 2 ] <= 1",
    ],
)
def test_coefficients_and_right_sides_are_no_such_numbers(rows: str) -> None:
    refuse_misread(Path("m.lp"), lp(rows))
    refuse_misread(Path("m.lp"), lp(rows).replace("\n", "\r\n"))


@pytest.mark.parametrize("filler", ["\n", " ", "x", "1", "+", "<", "st\n", "end "])
def test_the_time_grows_with_the_length_of_the_file(filler: str) -> None:
    began = time.monotonic()
    text = lp("c1: x >= 1\n" + filler * (100_000 // len(filler)))
    with contextlib.suppress(FileError):
        refuse_misread(Path("m.lp"), text)
    unread_part(text)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("c1: 1 <= x + y <= 3", "no row with two sides there: write 'c1: 1 <= x \\+ y <= 3' as two rows"),
        ("c1: x >= 2 y", "no variable on the right side: write those of 'c1: x >= 2 y' on the left"),
        ("c1: 3 <= x + y", "no variable on the right side"),
        ("c1: x + y => 2", "HiGHS reads <=, >= and =: correct '=>'"),
        ("c1: x + y < 2", "HiGHS reads <=, >= and =: correct '<'"),
        ("c1: x + y[1] <= 2", r"no names with brackets, such as 'y\[1\]': use \.mps"),
        ("c1: 2 gen + x <= 2", "HiGHS takes the name 'gen' for the heading of a section: rename it"),
        ("c1: x + bin >= 2", "HiGHS takes the name 'bin' for the heading of a section: rename it"),
        ("c1: x <= 2\nlazy constraints\n c2: y <= 1", "does not read the section 'lazy constraints'"),
    ],
)
def test_a_row_that_is_not_read_is_named_with_a_remedy(rows: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "m.lp").write_text(lp(rows))
    with pytest.raises(FileError, match=said):
        read(tmp_path / "m.lp")


def test_nothing_is_said_of_rows_that_are_read() -> None:
    assert unread_part(lp("c1: x + y >= 1\n c2: x\n - y\n <= 2")) is None
    assert "'end' is missing" in str(unread_part(lp("c1: x + y >= 1").removesuffix("end\n")))


@pytest.mark.parametrize(
    "row",
    [
        "1 <= 2 x + y <= 7",  # HiGHS reads x + y <= 7
        "c1: 1 <= 2 x + y <= 7",
        "c1: - 5 <= -2 x - y <= 5",
        "c1: 5 >= 3 x >= 2",
        "c1: x - y <= 5 >= -5",
        "c1: -inf <= 3 x + y <= 4",
        "c0: x + y >= 1\n 1 <= 2 x + y <= 7",
    ],
)
def test_a_row_with_two_sides_is_refused_whatever_highs_makes_of_it(row: str, tmp_path: Path) -> None:
    (tmp_path / "m.lp").write_text(lp(row))
    with pytest.raises(FileError, match=r"m\.lp: .* on its left side: .* as two rows, or use \.mps"):
        read(tmp_path / "m.lp")


@pytest.mark.parametrize("name", ["inflow", "INF_1", "nano", "nan", "infinity_x"])
@pytest.mark.parametrize("rows", ["c1: x + 2 {} >= 1", "c1: x + y >= 1\nbounds\n {} <= 3", "{}: x + y >= 1"])
def test_a_name_that_begins_as_a_number_is_refused(name: str, rows: str, tmp_path: Path) -> None:
    (tmp_path / "m.lp").write_text(lp(rows.format(name)))
    with pytest.raises(FileError, match=f"first letters of the name '{name}' as a number: rename it, or use .mps"):
        read(tmp_path / "m.lp")


def test_infinite_bounds_are_no_such_names(tmp_path: Path) -> None:
    bounds = "bounds\n -inf <= y <= +Infinity\n x_inf <= inf\n"
    (tmp_path / "m.lp").write_text(lp("c1: x + y + x_inf >= 1").replace("bounds\n", bounds))
    assert read(tmp_path / "m.lp", "*").milp.names == ("x", "y", "x_inf")


@pytest.mark.parametrize("begin", ["maximise", "max:", "obj: x", "\\ only a comment\n"])
def test_a_file_begins_with_its_sense(begin: str, tmp_path: Path) -> None:
    (tmp_path / "m.lp").write_text(lp("c1: x + y >= 1").replace("minimize", begin, 1))
    with pytest.raises(FileError, match="must begin with minimize or maximize"):
        read(tmp_path / "m.lp", "x")


def test_sections_may_stand_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "m.lp").write_text("max obj: x + 3 y st c1: x + 2 y + 3 <= 7 bounds x <= 4 end")
    with pytest.raises(FileError, match="the row 'c1' has the number 3 among its terms"):
        read(tmp_path / "m.lp")


def test_a_binary_variable_is_between_0_and_1_whatever_its_bounds(tmp_path: Path) -> None:
    bounds = "bounds\n x <= 9\n -1 <= y <= 0\n z <= 5\nbinary\n x\n y\ngeneral\n z\nend\n"
    (tmp_path / "m.lp").write_text(f"max\n x + y + z\nst\n c1: x + y + z <= 8\n{bounds}")
    milp = read(tmp_path / "m.lp").milp
    assert (milp.lower.tolist(), milp.upper.tolist()) == ([0.0, 0.0, 0.0], [1.0, 0.0, 5.0])


def test_binary_variables_are_those_of_their_section() -> None:
    assert binary_names("minimize\n x\nbinary\n x y \\ a comment\ngeneral\n z\nend\n") == {"x", "y"}
    assert binary_names("minimize\n x\nbinary\n x") == {"x"}
    assert binary_names("minimize\n x") == set(), "a file that was cut off has no section"
