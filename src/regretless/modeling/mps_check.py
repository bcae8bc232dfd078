"""Find errors in ``.mps`` files that HiGHS ignores: words instead of numbers, unknown rows and unknown variables."""

from __future__ import annotations

import math
from pathlib import Path

from regretless.errors import FileError

NEEDS_VALUE = {"UP", "LO", "FX", "LI", "UI", "SC", "SI"}
NO_VALUE = {"FR", "MI", "PL", "BV"}
CHECKED = {"ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS"}
# The further ones are not part of a linear model, which HiGHS reports.
SECTIONS = CHECKED | {
    "NAME", "OBJSENSE", "OBJNAME", "OBJSENSEMAX", "QUADOBJ", "QMATRIX", "QSECTION", "QCMATRIX", "CSECTION", "SOS",
    "SOS1", "SOS2", "SETS", "DELAYEDROWS", "MODELCUTS", "USERCUTS", "INDICATORS", "LAZYCONS", "GENCONS", "PWLOBJ",
    "PWLNAM", "PWLCON",
}  # fmt: skip


def refuse_damaged(path: Path, text: str) -> None:
    """Check the fields of every data line, and raise an error that names the first bad line.

    Raises:
        FileError: a number is missing, invalid or not finite, or a row or variable is unknown.
    """
    section = ""
    rows: set[str] = set()
    columns: set[str] = set()
    column, seen = "", set[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split()
        if not fields or line.startswith("*"):
            continue
        where = f"{path}, line {number}"
        if not line[0].isspace():
            word = fields[0].upper()
            if word == "ENDATA":
                return
            if word in SECTIONS:
                section = word
                continue
            # HiGHS warns of an unknown section and may then read the same line forever.
            if section not in CHECKED and not (section == "OBJSENSE" and word.startswith(("MAX", "MIN"))):
                raise FileError(f"{where}: unknown section {fields[0][:40]!r}")
        if section == "ROWS":
            if len(fields) < 2 or fields[0].upper() not in ("N", "L", "G", "E"):
                raise FileError(f"{where}: expected N, L, G or E and the name of a row, got {line.strip()[:60]!r}")
            rows.add(fields[-1])
        elif section == "COLUMNS":
            marker = [field.strip("'").upper() for field in fields[1:]]
            if "MARKER" in marker:
                if not line.count("'"):
                    raise FileError(f"{where}: write 'MARKER' and its kind in quotes, got {line.strip()!r}")
                continue
            if fields[0] != column:
                column, seen = fields[0], set()
            columns.add(column)
            _pairs(fields[1:], rows, where, line)
            for row in fields[1::2]:
                if row in seen:  # HiGHS takes the first number
                    raise FileError(f"{where}: the variable {column!r} has two numbers in the row {row!r}")
                seen.add(row)
        elif section in ("RHS", "RANGES"):
            _pairs(fields[len(fields) % 2 :], rows, where, line)
        elif section == "BOUNDS":
            _bound(fields, columns, where, line)
    raise FileError(f"{path} is cut off or not an .mps file: it has no ENDATA line")


def _pairs(fields: list[str], rows: set[str], where: str, line: str) -> None:
    if not fields or len(fields) % 2:
        raise FileError(f"{where}: expected pairs of a row and a number, got {line.strip()!r}")
    for row in fields[::2]:
        if row not in rows:
            raise FileError(f"{where}: unknown row {row!r}; names must not contain spaces")
    for value in fields[1::2]:
        _number(value, where, finite=True)


def _bound(fields: list[str], columns: set[str], where: str, line: str) -> None:
    kind = fields[0].upper()
    if kind not in NEEDS_VALUE | NO_VALUE:
        raise FileError(f"{where}: unknown kind of bound {fields[0]!r}")
    rest = fields[1:]
    if kind in NEEDS_VALUE:
        if len(rest) < 2:
            raise FileError(f"{where}: expected a variable and a number, got {line.strip()!r}")
        _number(rest[-1], where, finite=False)
        rest = rest[:-1]
    # The name of the set of bounds may be missing, and a bound that needs no number may still have one.
    if not any(field in columns for field in rest[:2]):
        raise FileError(f"{where}: a bound for an unknown variable, got {line.strip()!r}")


def _number(text: str, where: str, *, finite: bool) -> None:
    try:
        # Old files often use Fortran's exponent.
        value = float(text.replace("D", "E").replace("d", "e"))
    except ValueError:
        raise FileError(f"{where}: expected a number, got {text!r}") from None
    if math.isnan(value) or (finite and math.isinf(value)):
        raise FileError(f"{where}: expected a finite number, got {text!r}")
