"""Reader of ``.mps`` and ``.lp`` files, plain or gzipped, through HiGHS."""

from __future__ import annotations

import gzip
import re
import sys
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from regretless.errors import FileError, InputError
from regretless.missing_file import refuse_missing
from regretless.modeling.linear_model import QUADRATIC, LinearModel, binary_bounds
from regretless.modeling.lp_check import binary_names, refuse_misread, unread_part
from regretless.modeling.mps_check import refuse_damaged
from regretless.optional import need

SUFFIXES = (".mps", ".lp", ".mps.gz", ".lp.gz")
# Phrases in the log of HiGHS for valid files that hold what a linear model cannot represent.
UNSUPPORTED = {
    "SOS not supported": "SOS constraints",
    "Quadratic": QUADRATIC,
    "INDICATORS": "indicator constraints",
    "LAZYCONS": "lazy constraints",
    "GENCONS": "general constraints",
    "PWLOBJ": "a piecewise-linear objective",
}
# Coefficients from this size on are read; by default HiGHS ignores those below 1e-9, also where a row has no others.
SMALL = 1e-12
# Warnings of HiGHS about something that it leaves out, except for such small coefficients and for values that are there
# twice, which ``mps_check`` compares.
LOST = re.compile(r"WARNING:(?!.*(?:duplicate|fractional|LP matrix)).*(?:ignored|fixed format)")


def linear(model: Any) -> LinearModel:
    """Read the file at a path.

    Raises:
        FileError: the file is missing, has another suffix, or is damaged.
        InputError: it holds something that a linear model cannot represent.
    """
    path = Path(model)
    kind = next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), None)
    if kind is None:
        raise FileError(f"{path}: a model file must end in {', '.join(SUFFIXES)}")
    text = _text(path, kind)
    if kind.startswith(".mps"):
        refuse_damaged(path, text)
    elif re.search(r"=\s*[01](\.0*)?\s*<?->", text):
        # HiGHS refuses this, too, but prints a message even with its output switched off.
        raise InputError(f"{path} has indicator constraints, which a linear model cannot represent")
    else:
        refuse_misread(path, text)
    # A copy with a plain name: HiGHS decides by the suffix, and does not read gzip.
    try:
        with tempfile.TemporaryDirectory(prefix="regretless-") as folder:
            if sys.platform == "win32" and not folder.isascii():  # HiGHS does not find a file there
                raise FileError(f"cannot read {path} through the folder {folder}: set TMPDIR to one with an ASCII name")
            copy = Path(folder) / f"model{kind.removesuffix('.gz')}"
            copy.write_bytes(text.encode())  # as it is: Windows would end each line with one more return
            found = _from_highs(path, copy, Path(folder) / "log")
            return found if kind.startswith(".mps") else _with_binaries(found, binary_names(text))
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot make a temporary copy of {path}: {error}; set TMPDIR to another folder") from error


def _text(path: Path, kind: str) -> str:
    refuse_missing(path)
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if kind.endswith(".gz") else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, byte = error.object[: error.start].count(b"\n") + 1, error.object[error.start]
        raise FileError(f"{path}, line {line}: the byte 0x{byte:02x} is not UTF-8: save the file as UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"{path} cannot be read: {error}") from error


def _from_highs(path: Path, copy: Path, log: Path) -> LinearModel:
    highspy = need("highspy", pip="highspy<1.15", why="read model files")
    highs = highspy.Highs()
    # Silence first: setOptionValue itself prints.
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("log_file", str(log))
    highs.setOptionValue("log_to_console", False)
    highs.setOptionValue("output_flag", True)
    highs.setOptionValue("small_matrix_value", SMALL)
    status = highs.readModel(str(copy))
    highs.setOptionValue("log_file", "")
    said = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    if status == highspy.HighsStatus.kError:
        for sign, what in UNSUPPORTED.items():
            if sign in said:
                raise InputError(f"{path} has {what}, which a linear model cannot represent")
        reasons = [line.removeprefix("ERROR:").strip() for line in said.splitlines() if line.startswith("ERROR")]
        reason = "; ".join(reasons).replace(str(copy), path.name)
        if copy.suffix == ".lp" and (unread := unread_part(copy.read_text(encoding="utf-8"))):
            reason += f"; {unread}"
        raise FileError(f"{path} is damaged or not a model file: {reason or 'HiGHS cannot read it'}")
    if lost := next((line for line in said.splitlines() if LOST.match(line)), None):
        raise FileError(f"HiGHS does not read all of {path}: {lost.removeprefix('WARNING:').strip()}")
    lp = highs.getLp()
    if highs.getModel().hessian_.dim_:
        raise InputError(f"{path} has a quadratic objective; only linear ones can be predicted")
    if lp.num_col_ == 0:
        raise FileError(f"{path} is damaged or empty: it has no variables")
    names = tuple(str(name) for name in lp.col_names_)
    if len(names) != lp.num_col_:
        raise FileError(f"{path} has two variables with the same name, or a variable without a name")
    return _arrays(path, highspy, lp, names)


def _with_binaries(model: LinearModel, names: set[str]) -> LinearModel:
    binary = np.array([name in names for name in model.names], dtype=bool)
    lower, upper = binary_bounds(model.lower, model.upper, binary)
    return replace(model, lower=lower, upper=upper)


def _arrays(path: Path, highspy: Any, lp: Any, names: tuple[str, ...]) -> LinearModel:
    types = highspy.HighsVarType
    kinds = list(lp.integrality_) or [types.kContinuous] * len(names)
    for name, kind in zip(names, kinds, strict=True):
        if kind not in (types.kContinuous, types.kInteger):
            raise InputError(
                f"{path}: the variable {name!r} is semi-continuous or semi-integer: it cannot be represented"
            )
    for name, low, high in zip(names, lp.col_lower_, lp.col_upper_, strict=True):
        if high < 0.0 == low:  # other programs take such a bound for one without a lower bound
            bounds = f"the upper bound {high:g} and the lower bound 0"
            raise FileError(f"{path}: the variable {name!r} has {bounds}: write its lower bound")
    matrix = lp.a_matrix_
    parts = (np.array(matrix.value_, float), np.array(matrix.index_, np.int64), np.array(matrix.start_, np.int64))
    by_column = matrix.format_ == highspy.MatrixFormat.kColwise
    return LinearModel(
        A=(sparse.csc_array if by_column else sparse.csr_array)(parts, shape=(lp.num_row_, lp.num_col_)),
        row_lower=lp.row_lower_,
        row_upper=lp.row_upper_,
        lower=lp.col_lower_,
        upper=lp.col_upper_,
        integer=[kind == types.kInteger for kind in kinds],
        objective=lp.col_cost_,
        constant=lp.offset_,
        sense="max" if lp.sense_ == highspy.ObjSense.kMaximize else "min",
        names=names,
        row_names=tuple(str(name) for name in lp.row_names_) or None,
    )
