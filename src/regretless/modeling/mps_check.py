"""Find errors in ``.mps`` files that HiGHS ignores or misreads: words for numbers, unknown names, second values."""

from __future__ import annotations

import math
import re
from pathlib import Path

from regretless.errors import FileError

INF = math.inf
# How PuLP writes that a model is maximized, in place of the section OBJSENSE.
MAXIMIZED = re.compile(r"\*\s*SENSE\s*:\s*MAX", re.IGNORECASE)
# The sides that a kind of bound sets.
WITH_NUMBER: dict[str, tuple[str, ...]] = {
    "UP": ("upper",), "LO": ("lower",), "FX": ("lower", "upper"), "LI": ("lower",), "UI": ("upper",), "SC": ("upper",),
    "SI": ("upper",),
}  # fmt: skip
WITHOUT_NUMBER: dict[str, dict[str, float]] = {
    "FR": {"lower": -INF, "upper": INF},
    "MI": {"lower": -INF},
    "PL": {"upper": INF},
    "BV": {"lower": 0.0, "upper": 1.0},
}
ODD_SPACE = re.compile(r"[^\S \t\r]")  # HiGHS takes it for a part of a word
CHECKED = {"ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS"}
# The further ones are not part of a linear model, which HiGHS reports.
SECTIONS = CHECKED | {
    "NAME", "OBJSENSE", "OBJNAME", "QUADOBJ", "QMATRIX", "QSECTION", "QCMATRIX", "CSECTION", "SOS", "SOS1", "SOS2",
    "SETS", "DELAYEDROWS", "MODELCUTS", "USERCUTS", "INDICATORS", "LAZYCONS", "GENCONS", "PWLOBJ", "PWLNAM", "PWLCON",
}  # fmt: skip


def refuse_damaged(path: Path, text: str) -> None:
    """Check the fields of every data line, and raise an error that names the first bad line.

    Raises:
        FileError: a number is missing, invalid or not finite, a row or variable is unknown, a place has two values, or
            HiGHS would read the line as something else.
    """
    file = _File()
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.split()
        if MAXIMIZED.match(line):
            file.maximized = number
        if not fields or line.startswith("*"):
            continue
        try:
            if odd := ODD_SPACE.search(line):
                raise FileError(f"expected words with spaces or tabs between them, got {odd[0]!r}")
            if not line[0].isspace() and file.begins_section(fields):
                if file.section == "ENDATA":
                    break
                continue
            file.data(fields, line)
        except FileError as error:
            raise FileError(f"{path}, line {number}: {error}") from None
    else:
        raise FileError(f"{path} is cut off or not an .mps file: it has no ENDATA line")
    if file.maximized and "OBJSENSE" not in file.done:
        raise FileError(
            f"{path}, line {file.maximized}: the comment says that the objective is maximized, but without a section "
            "OBJSENSE it would be minimized: write the section (PuLP: with_objsense=True), or an .lp file"
        )


class _File:
    """What the lines so far hold."""

    def __init__(self) -> None:
        self.section = ""
        self.done: set[str] = set()
        self.maximized = 0  # line of the comment that says so
        self.rows: set[str] = set()
        self.columns: set[str] = set()
        self.objective = ""  # as OBJNAME says
        self.free_rows: list[str] = []  # the first one is the objective
        self.column, self.places = "", set[str]()
        self.sets: dict[str, str] = {}  # section to the name of its set
        self.values: dict[tuple[str, ...], float] = {}

    def begins_section(self, fields: list[str]) -> bool:
        """Whether a line that is not indented is the heading of a section."""
        word = fields[0].upper()
        if word != "ENDATA" and word not in SECTIONS:
            # HiGHS warns of an unknown section and may then read the same line forever.
            if self.section not in CHECKED and not (self.section == "OBJSENSE" and word.startswith(("MAX", "MIN"))):
                raise FileError(f"unknown section {fields[0][:40]!r}")
            return False
        if word == "OBJSENSE" and len(fields) > 1 and fields[1].upper() not in ("MAX", "MIN"):
            raise FileError(f"HiGHS ignores {fields[1]!r} there: write MAX or MIN on a line of its own")
        if (word in CHECKED or word == "ENDATA") and len(fields) > 1:
            raise FileError(f"{fields[0]!r} stands alone: write {' '.join(fields[1:])[:40]!r} on an indented line")
        if word == "ENDATA" and not self.done >= {"ROWS", "COLUMNS"}:
            raise FileError("ENDATA is the last line: expected the sections ROWS and COLUMNS before it")
        if word == "OBJNAME" and len(fields) > 1:
            self.objective = fields[1]
        if word == "RHS" and "RANGES" in self.done:
            raise FileError("HiGHS needs the section RHS before RANGES: a range is added to the right side")
        self.section = word
        self.done.add(word)
        return True

    def data(self, fields: list[str], line: str) -> None:
        """Check a line of data of the current section."""
        shown = line.strip()[:60]
        if self.section == "OBJSENSE" and not fields[0].upper().startswith(("MAX", "MIN")):
            raise FileError(f"expected MAX or MIN, got {shown!r}")
        if self.section == "OBJNAME":
            self.objective = fields[0]
        elif self.section == "ROWS":
            self._row(fields, shown)
        elif self.section == "COLUMNS":
            self._column(fields, shown)
        elif self.section in ("RHS", "RANGES"):
            self._sides(fields, shown)
        elif self.section == "BOUNDS":
            self._bound(fields, shown)

    def _row(self, fields: list[str], shown: str) -> None:
        if len(fields) < 2 or fields[0].upper() not in ("N", "L", "G", "E"):
            raise FileError(f"expected N, L, G or E and the name of a row, got {shown!r}")
        if len(fields) > 2:  # HiGHS then reads columns of fixed width, and may crash
            raise FileError(f"expected a name without spaces, got {shown!r}")
        name = fields[1]
        if name in self.rows:
            raise FileError(f"there are two rows {name!r}")
        if fields[0].upper() == "N":
            if not self.free_rows and self.objective not in ("", name):
                raise FileError(
                    f"HiGHS takes the first row N for the objective, and not {self.objective!r}: move it up"
                )
            self.free_rows.append(name)
        self.rows.add(name)

    def _column(self, fields: list[str], shown: str) -> None:
        if "MARKER" in [field.strip("'").upper() for field in fields[1:]]:
            if "'" not in shown:
                raise FileError(f"write 'MARKER' and its kind in quotes, got {shown!r}")
            if len(fields) != 3 or fields[1] != "'MARKER'":
                raise FileError(f"expected a name, 'MARKER' and its kind, got {shown!r}")
            return
        if fields[0] != self.column:
            self.column, self.places = fields[0], set()
        self.columns.add(self.column)
        for row, _ in self._pairs(fields[1:], shown):
            if row in self.places:  # HiGHS takes the first number
                raise FileError(f"the variable {self.column!r} has two numbers in the row {row!r}")
            self.places.add(row)

    def _sides(self, fields: list[str], shown: str) -> None:
        if len(fields) % 2:  # with the name of the set
            self._one_set(fields[0], self.rows, "row")
        for row, value in self._pairs(fields[len(fields) % 2 :], shown):
            if self.section == "RHS" and row in self.free_rows[1:] and value:
                raise FileError(
                    f"HiGHS adds the right side of {row!r} to the objective, which is another row: remove it"
                )
            self._put(value, f"the row {row!r}", self.section, row)

    def _bound(self, fields: list[str], shown: str) -> None:
        kind, rest = fields[0].upper(), fields[1:]
        if kind not in WITH_NUMBER and kind not in WITHOUT_NUMBER:
            known = ", ".join([*WITH_NUMBER, *WITHOUT_NUMBER])
            raise FileError(f"expected a kind of bound, one of {known}, got {fields[0]!r}")
        sides = WITHOUT_NUMBER.get(kind, {})
        if kind in WITH_NUMBER:
            if len(rest) < 2:
                raise FileError(f"expected a variable and a number, got {shown!r}")
            sides = dict.fromkeys(WITH_NUMBER[kind], _number(rest[-1], finite=False))
            rest = rest[:-1]
        elif len(rest) > 1 and rest[1] not in self.columns:  # a number that is not needed
            rest = rest[:1]
        # The name of the set of bounds may be missing.
        variable = rest[1] if len(rest) > 1 else rest[0] if rest else ""
        if variable not in self.columns:
            raise FileError(f"a bound for an unknown variable, got {shown!r}")
        if len(rest) > 1:
            self._one_set(rest[0], self.columns, "variable")
        for side, value in sides.items():
            self._put(value, f"the {side} bound of {variable!r}", side, variable)

    def _one_set(self, name: str, taken: set[str], what: str) -> None:
        """Refuse a second set of a section, since HiGHS merges them, and a name that HiGHS takes for something else."""
        if name in taken:
            raise FileError(
                f"HiGHS takes {name!r} for the {what} of that name: give the set of {self.section} another name"
            )
        if self.sets.setdefault(self.section, name) != name:
            raise FileError(
                f"a second set of {self.section}, {name!r} after {self.sets[self.section]!r}: keep one of them"
            )

    def _put(self, value: float, what: str, *place: str) -> None:
        if self.values.setdefault(place, value) != value:
            raise FileError(f"two values for {what}: {self.values[place]:g} and {value:g}; keep one of them")

    def _pairs(self, fields: list[str], shown: str) -> list[tuple[str, float]]:
        if not fields or len(fields) % 2:
            raise FileError(f"expected pairs of a row and a number, got {shown!r}")
        if len(fields) > 4:
            raise FileError(f"HiGHS reads two pairs of a row and a number per line, and here are {len(fields) // 2}")
        for row in fields[::2]:
            if row not in self.rows:
                raise FileError(f"unknown row {row!r}; names must not contain spaces")
        return [(row, _number(value, finite=True)) for row, value in zip(fields[::2], fields[1::2], strict=True)]


def _number(text: str, *, finite: bool) -> float:
    try:
        # Old files often use Fortran's exponent.
        value = float(text.replace("D", "E").replace("d", "e"))
    except ValueError:
        raise FileError(f"expected a number, got {text!r}") from None
    if math.isnan(value) or (finite and math.isinf(value)):
        raise FileError(f"expected a finite number, got {text!r}")
    return value
