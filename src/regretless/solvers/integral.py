"""Rows and bounds in whole numbers, for engines that know no others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from regretless.errors import InputError
from regretless.milp import MILP, TOLERANCE, Floats

LARGEST_DENOMINATOR = 10**6
LARGEST_ACTIVITY = 2**61
LARGEST_BOUND = 2.0**52


@dataclass(frozen=True)
class WholeRow:
    """``lower <= sum coefficients x[columns] <= upper``, all whole."""

    columns: list[int]
    coefficients: list[int]
    lower: int
    upper: int


def whole_bounds(milp: MILP) -> tuple[Floats, Floats]:
    """Round the bounds of the variables inwards.

    Raises:
        InputError: a variable is continuous, or a bound is missing or too large.
    """
    bad = np.flatnonzero(~milp.integer)
    if bad.size:
        raise InputError(
            f"CP-SAT knows whole variables only, and {_variable(milp, bad[0])} is continuous ({bad.size} in all); "
            "use engine='highs', 'scip' or 'gurobi'"
        )
    bad = np.flatnonzero(~((np.abs(milp.lower) <= LARGEST_BOUND) & (np.abs(milp.upper) <= LARGEST_BOUND)))
    if bad.size:
        j = int(bad[0])
        raise InputError(
            f"CP-SAT needs bounds on every variable (up to 2**52), and {_variable(milp, j)} has "
            f"[{milp.lower[j]}, {milp.upper[j]}]; give it bounds, or use engine='highs', 'scip' or 'gurobi'"
        )
    return np.ceil(milp.lower - TOLERANCE) + 0.0, np.floor(milp.upper + TOLERANCE) + 0.0


def whole_rows(milp: MILP, lower: Floats, upper: Floats) -> Iterator[WholeRow]:
    """Yield the rows with coefficients scaled to whole numbers and bounds rounded inwards.

    A coefficient is read as the fraction that it prints as (0.1 is one tenth), with denominators up to a million.

    Raises:
        InputError: a coefficient is no such fraction, or the row becomes too large for 64 bits; the row is named.
    """
    reach = np.maximum(np.abs(lower), np.abs(upper))
    for i in range(milp.A.shape[0]):
        part = slice(milp.A.indptr[i], milp.A.indptr[i + 1])
        columns = [int(j) for j in milp.A.indices[part]]
        fractions = [_fraction(float(value), i) for value in milp.A.data[part]]
        scale = math.lcm(*[fraction.denominator for fraction in fractions])
        coefficients = [int(fraction * scale) for fraction in fractions]
        most = sum(abs(a) * int(reach[j]) for a, j in zip(coefficients, columns, strict=True))
        if most > LARGEST_ACTIVITY:
            raise InputError(
                f"row {i} becomes too large for CP-SAT's 64 bits when scaled by {scale}; use engine='highs'"
            )
        low, high = (
            _rounded(milp.row_lower[i], scale, most, up=True),
            _rounded(milp.row_upper[i], scale, most, up=False),
        )
        yield WholeRow(columns, coefficients, low, high)


def _fraction(value: float, row: int) -> Fraction:
    fraction = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    # The double that the fraction is written as, not merely a near one: random reals do not pass.
    if float(fraction) != value:
        raise InputError(
            f"CP-SAT needs whole coefficients, and row {row} holds {value!r}, which is no fraction with a denominator "
            f"up to {LARGEST_DENOMINATOR}; scale or round the row, or use engine='highs', 'scip' or 'gurobi'"
        )
    return fraction


def _rounded(bound: float, scale: int, most: int, *, up: bool) -> int:
    """Round a row's bound inwards; beyond what the row can reach any number says the same."""
    if math.isinf(bound):
        return most + 1 if bound > 0 else -most - 1
    exact = Fraction(bound) * scale
    slack = Fraction(TOLERANCE)
    whole = math.ceil(exact - slack) if up else math.floor(exact + slack)
    return max(-most - 1, min(most + 1, whole))


def _variable(milp: MILP, j: int) -> str:
    return f"variable {j}" if milp.names is None else f"variable {milp.names[j]!r}"
