"""Rows and bounds as integers, for engines that take nothing else."""

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
class IntegerRow:
    """``lower <= sum coefficients x[columns] <= upper``, all integers."""

    columns: list[int]
    coefficients: list[int]
    lower: int
    upper: int


def integer_bounds(milp: MILP) -> tuple[Floats, Floats]:
    """Round the bounds of the variables inwards.

    Raises:
        InputError: a variable is continuous, or a bound is missing or too large.
    """
    bad = np.flatnonzero(~milp.integer)
    if bad.size:
        raise InputError(
            f"CP-SAT takes integer variables only, and {_variable(milp, bad[0])} is continuous ({bad.size} in all); "
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


def integer_rows(milp: MILP, lower: Floats, upper: Floats) -> Iterator[IntegerRow]:
    """Yield the rows with coefficients scaled to integers and bounds rounded inwards.

    A coefficient is read as the fraction that it is printed as (0.1 is one tenth), with denominators up to a million.

    Raises:
        InputError: a coefficient is not such a fraction, or the row becomes too large for 64 bits; the row is named.
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
        yield IntegerRow(columns, coefficients, low, high)


def _fraction(value: float, row: int) -> Fraction:
    fraction = Fraction(value).limit_denominator(LARGEST_DENOMINATOR)
    # The fraction must be exactly this number as a double, not only close to it: random reals do not pass.
    if float(fraction) != value:
        raise InputError(
            f"CP-SAT needs integer coefficients, and row {row} holds {value!r}, which is not a fraction with a "
            f"denominator up to {LARGEST_DENOMINATOR}; scale or round the row, or use engine='highs'"
        )
    return fraction


def _rounded(bound: float, scale: int, most: int, *, up: bool) -> int:
    """Round a row's bound inwards, and cut it where the row cannot reach it anyway."""
    if math.isinf(bound):
        return most + 1 if bound > 0 else -most - 1
    exact = Fraction(bound) * scale
    slack = Fraction(TOLERANCE)
    rounded = math.ceil(exact - slack) if up else math.floor(exact + slack)
    return max(-most - 1, min(most + 1, rounded))


def _variable(milp: MILP, j: int) -> str:
    return f"variable {j}" if milp.names is None else f"variable {milp.names[j]!r}"
