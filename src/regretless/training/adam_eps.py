"""The constant that Adam adds to the size of gradients, for costs of any size."""

from __future__ import annotations

EPS = 1e-8
LEAST_EPS = 1e-19  # squares of smaller gradients are zero in single precision


def eps_for(deviation: float) -> float:
    """Adam's constant where a model is trained on costs with this deviation.

    Gradients have the size of the costs, those of squared errors the size of squared costs. Where costs vary by less
    than 0.01, these come near the constant, and training becomes slow or stops: there it is smaller, too.

    >>> eps_for(1.0)
    1e-08
    """
    return max(min(1.0, (100 * deviation) ** 2) * EPS, LEAST_EPS)
