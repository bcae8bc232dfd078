from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import FileError
from regretless.modeling.mps_check import refuse_damaged

HEAD = "ROWS\n N obj\n L c1\nCOLUMNS\n    x obj 1 c1 2\nRHS\n    RHS c1 4\nRANGES\n    R c1 2\n"


@pytest.mark.parametrize(
    "line",
    [
        " UP BND x 3",
        " UP x 3",
        " FX BND x -1e3",
        " LO BND x 1.5D+2",
        " UP BND x inf",
        " FR BND x",
        " BV x",
        " MI BND x 0",
        " FR x 0",
    ],
)
def test_sound_bounds_pass(line):
    refuse_damaged(Path("a.mps"), f"* a comment\n{HEAD}BOUNDS\n{line}\nENDATA\nwhatever follows\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (" UP BND x three", "expected a number, got 'three'"),
        (" UP BND x nan", "finite number"),
        (" UP x", "a variable and a number"),
        (" XX BND x 3", "expected a kind of bound, .*UP.*, got 'XX'"),
        (" UP BND z 3", "unknown variable"),
    ],
)
def test_a_bad_bound_is_named_with_its_line(line, message):
    with pytest.raises(FileError, match=f"a.mps, line 11: .*{message}"):
        refuse_damaged(Path("a.mps"), f"{HEAD}BOUNDS\n{line}\nENDATA\n")


@pytest.mark.parametrize(
    "line", ["    y obj", "    y obj one", "    y obj inf", "    y obj 1 c1", "    y nowhere 1", "    y"]
)
def test_a_bad_column_is_named_with_its_line(line):
    with pytest.raises(FileError, match=r"line 6"):
        refuse_damaged(Path("a.mps"), HEAD.replace("RHS\n", f"{line}\nRHS\n", 1) + "ENDATA\n")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("COLUMNS\n", " G -1 c2\nCOLUMNS\n", "line 4: expected a name without spaces, got 'G -1 c2'"),
        ("RHS\n", "    0 M1 'MARKER' 'INTORG'\nRHS\n", "line 6: expected a name, 'MARKER' and its kind"),
        ("RHS\n", "    M1 'MaRKER' 'INTORG'\nRHS\n", "line 6: expected a name, 'MARKER' and its kind"),
        ("RHS\n", "RHS RHS c1 9\n", "line 6: 'RHS' stands alone: write 'RHS c1 9' on an indented line"),
        ("ROWS\n", "ENDATA\nROWS\n", "line [12]: ENDATA is the last line: expected the sections ROWS and COLUMNS"),
        ("ROWS\n", "ROWS\x0b", r"line [12]: expected words with spaces or tabs between them, got '\\x0b'"),
    ],
)
def test_what_highs_would_read_in_columns_of_fixed_width_is_refused(old, new, message):
    """There it crashes on some files."""
    with pytest.raises(FileError, match=message):
        refuse_damaged(Path("a.mps"), HEAD.replace(old, new, 1) + "ENDATA\n")


@pytest.mark.parametrize("line", [" L", " X c2", " c2"])
def test_a_bad_row_is_named_with_its_line(line):
    with pytest.raises(FileError, match=r"a.mps, line 4: expected N, L, G or E and the name of a row"):
        refuse_damaged(Path("a.mps"), HEAD.replace("COLUMNS\n", f"{line}\nCOLUMNS\n", 1) + "ENDATA\n")


@given(st.text(max_size=300))
def test_any_text_passes_or_is_a_file_error(text):
    with contextlib.suppress(FileError):
        refuse_damaged(Path("a.mps"), text)


@pytest.mark.parametrize("place", ["ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA"])
def test_an_unknown_section_is_named_before_highs_reads_it(place: str) -> None:
    text = HEAD + "BOUNDS\n UP B x 3\nENDATA\n"
    spoiled = text.replace(f"{place}\n", f"R\n\n    RHS c1 9 c1 -D\n{place}\n", 1)
    with pytest.raises(FileError, match=r"m\.mps, line \d+"):
        refuse_damaged(Path("m.mps"), spoiled)


def test_the_sense_may_stand_on_its_own_line() -> None:
    for sense in ("OBJSENSE\nMAX\n", "OBJSENSE\n    MAX\n", "OBJSENSE MAX\n"):
        refuse_damaged(Path("m.mps"), "NAME t\n" + sense + HEAD + "ENDATA\n")


GOOD = HEAD.replace("RANGES", "    RHS obj -1\nRANGES") + "BOUNDS\n UP BND x 3\nENDATA\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ROWS\n", "OBJSENSE MAXIMIZE\nROWS\n", "line 1: HiGHS ignores 'MAXIMIZE' there"),
        ("ROWS\n", "OBJSENSE\n    LARGEST\nROWS\n", "line 2: expected MAX or MIN"),
        ("ROWS\n", "OBJSENSEMAX\nROWS\n", "line 1: unknown section"),
        ("ROWS\n", "OBJNAME\n    c9\nROWS\n", "line 4: HiGHS takes the first row N for the objective, and not 'c9'"),
        (" L c1\n", " L c1\n G c1\n", "line 4: there are two rows 'c1'"),
        (
            "RHS\n    RHS c1 4\n",
            "RANGES\n    R c1 1\nRHS\n    RHS c1 4\n",
            "line 8: HiGHS needs the section RHS before",
        ),
        ("    RHS c1 4\n", "    RHS c1 4\n    RHS c1 5\n", "line 8: two values for the row 'c1': 4 and 5"),
        ("    RHS obj -1\n", "    RHS2 obj -1\n", "line 8: a second set of RHS, 'RHS2' after 'RHS'"),
        ("    RHS c1 4\n", "    c1 c1 4\n", "line 7: HiGHS takes 'c1' for the row of that name"),
        (" UP BND x 3\n", " UP x x 3\n", "line 12: HiGHS takes 'x' for the variable of that name"),
        (" UP BND x 3\n", " UP BND x 3\n UP B2 x 3\n", "line 13: a second set of BOUNDS"),
        (" UP BND x 3\n", " FR BND x\n UP BND x 3\n", "line 13: two values for the upper bound of 'x': inf and 3"),
        ("    x obj 1 c1 2\n", "    x obj 1 c1 2 c1 2\n", "line 5: HiGHS reads two pairs .* and here are 3"),
    ],
)
def test_what_highs_would_read_as_something_else_is_refused(old: str, new: str, said: str) -> None:
    refuse_damaged(Path("m.mps"), GOOD)
    with pytest.raises(FileError, match=rf"m\.mps, {said}"):
        refuse_damaged(Path("m.mps"), GOOD.replace(old, new, 1))


def test_a_value_may_be_there_twice() -> None:
    refuse_damaged(Path("m.mps"), GOOD.replace(" UP BND x 3\n", " BV BND x\n UP BND x 1\n LO BND x 0\n"))


def test_two_numbers_in_one_place_are_refused() -> None:
    text = "NAME\nROWS\n N c\n L r\nCOLUMNS\n    x c 1 r 1\n    y c 1\n    x2 c 1\n    x2 r 1 r 5\nENDATA\n"
    with pytest.raises(FileError, match="line 9: the variable 'x2' has two numbers in the row 'r'"):
        refuse_damaged(Path("m.mps"), text)


def test_a_file_whose_sense_is_only_in_a_comment_as_pulp_writes_it_is_refused():
    rest = f"NAME a\n{HEAD}ENDATA\n"
    with pytest.raises(FileError, match=r"^a\.mps, line 1: the comment says .* without a section OBJSENSE"):
        refuse_damaged(Path("a.mps"), f"*SENSE:Maximize\n{rest}")
    for sound in ("*SENSE:Minimize\n", "*SENSE:Maximize\nOBJSENSE\n    MAX\n", "* SENSE is what one makes of it\n"):
        refuse_damaged(Path("a.mps"), sound + rest)


def test_the_right_side_of_a_second_free_row_is_refused() -> None:
    text = GOOD.replace(" L c1\n", " L c1\n N c8\n", 1)
    refuse_damaged(Path("m.mps"), text)
    with pytest.raises(FileError, match=r"line 9: HiGHS adds the right side of 'c8' to the objective"):
        refuse_damaged(Path("m.mps"), text.replace("RHS obj -1", "RHS c8 3", 1))
