"""What Adam needs for costs of any size: the constant that it adds to the size of gradients, and their factor."""

from __future__ import annotations

import math

EPS = 1e-8
LEAST_EPS = 1e-19  # squares of smaller gradients are zero in single precision
USUAL = 1e-8, 1e8


def eps_for(deviation: float) -> float:
    """Adam's constant where a model is trained on costs with this deviation.

    Gradients have the size of the costs, those of squared errors the size of squared costs. Where costs vary by less
    than 0.01, these come near the constant, and training becomes slow or stops: there it is smaller, too.

    >>> eps_for(1.0)
    1e-08
    """
    return max(min(1.0, (100 * deviation) ** 2) * EPS, LEAST_EPS)


def gradient_factor(deviation: float) -> float:
    """Factor of gradients where a model is trained on costs with this deviation; 1 for all but extreme costs.

    Gradients of squared errors have the size of squared costs, and Adam squares them again. In single precision that is
    infinity or zero for extreme costs, and weights would stay as they are. Adam's steps do not depend on the factor;
    as a power of two it does not change the rounding either.

    >>> gradient_factor(1e6), gradient_factor(2.0**40) * 2**40
    (1.0, 1.0)
    """
    low, high = USUAL
    extreme = 0 < deviation < low or high < deviation < math.inf
    return 2.0 ** -round(math.log2(deviation)) if extreme else 1.0
