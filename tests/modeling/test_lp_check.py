from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.modeling import read
from regretless.modeling.lp_check import refuse_constants, unread_row

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
        refuse_constants(Path("m.lp"), lp(rows, st))


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
    refuse_constants(Path("m.lp"), lp(rows))
    refuse_constants(Path("m.lp"), lp(rows).replace("\n", "\r\n"))


@pytest.mark.parametrize("filler", ["\n", " ", "x", "1", "+", "<", "st\n", "end "])
def test_the_time_grows_with_the_length_of_the_file(filler: str) -> None:
    began = time.monotonic()
    text = lp("c1: x >= 1\n" + filler * (100_000 // len(filler)))
    with contextlib.suppress(FileError):
        refuse_constants(Path("m.lp"), text)
    unread_row(text)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("c1: 1 <= x + y <= 3", "no row with two sides there: write 'c1: 1 <= x \\+ y <= 3' as two rows"),
        ("c1: x >= 2 y", "no variable on the right side: write those of 'c1: x >= 2 y' on the left"),
        ("c1: 3 <= x + y", "no variable on the right side"),
        ("c1: x + y => 2", "HiGHS reads <= and >=: correct 'c1: x \\+ y => 2'"),
    ],
)
def test_a_row_that_is_not_read_is_named_with_a_remedy(rows: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "m.lp").write_text(lp(rows))
    with pytest.raises(FileError, match=said):
        read(tmp_path / "m.lp")


def test_nothing_is_said_of_rows_that_are_read() -> None:
    assert unread_row(lp("c1: x + y >= 1\n c2: x\n - y\n <= 2")) is None
    assert unread_row("") is None
