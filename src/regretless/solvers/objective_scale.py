"""Objectives of extreme size, scaled to a size at which the absolute tolerances of engines make sense."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from regretless.milp import Floats

# Objectives whose largest coefficient lies outside of this range are scaled.
SMALL, LARGE = 1e-2, 1e6
# Powers of two: the size of a scaled objective, the least size at which an engine distinguishes a coefficient well
# from zero, and the largest one with which HiGHS solves most models.
USUAL, LEAST, MOST = 10, -10, 30


def scaled_objectives(objective: Floats) -> Iterator[Floats]:
    """The objective in the scales in which an engine may solve it, the best one first.

    Scales are powers of two: no digit of the objective and no optimum changes. For HiGHS costs of 1e-12 are all zero,
    and any solution is an optimum. With costs of 1e12 it does not reach its tolerance. Where a few coefficients are
    much larger than the others, such as penalties of 1e9 beside costs of 1, the others must not become that small: the
    objective stays as large as an engine can solve it. Where an engine fails at this size, the usual one comes next.

    >>> [scaled.tolist() for scaled in scaled_objectives(np.array([3.0, -5.0]))]
    [[3.0, -5.0]]
    """
    sizes = np.abs(objective)
    largest = float(sizes.max(initial=0.0))
    if largest == 0.0 or SMALL <= largest <= LARGE:
        yield objective
        return
    size = _power(largest)
    usual = USUAL - size
    if largest > LARGE:
        kept = min(LEAST - _power(float(sizes[sizes > 0.0].min())), MOST - size, 0)
        if kept > usual:
            yield np.ldexp(objective, kept)
    yield np.ldexp(objective, usual)


def _power(value: float) -> int:
    return int(np.frexp(value)[1])
