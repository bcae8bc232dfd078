"""A column of the features that holds true costs, which are not known yet when a decision is made."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from regretless.errors import RegretlessWarning
from regretless.milp import Floats

FEWEST_ROWS = 10  # with fewer rows, columns may be equal by chance


def cost_feature(features: Floats, costs: Floats) -> tuple[int, int | None] | None:
    """Find a feature that equals a cost in every row.

    Args:
        features: ``(n, k)`` per instance, or ``(n, d, k)`` per variable.
        costs: ``(n, d)``.

    Returns:
        Column of the feature, and column of the cost, which is ``None`` for a feature per variable: it equals all
        costs. ``None`` where there is no such feature. A column with one value only does not count.

    >>> cost_feature(np.array([[0.0, 5.0], [0.0, 7.0]]), np.array([[1.0, 5.0], [2.0, 7.0]]))
    (1, 1)
    """
    per_variable = features.ndim == 3
    columns = [costs.ravel()] if per_variable else list(costs.T)
    for k in range(features.shape[-1]):
        feature = features[..., k].ravel()
        if feature.size and (feature != feature[0]).any():
            same = next((j for j, column in enumerate(columns) if np.array_equal(feature, column)), None)
            if same is not None:
                return k, None if per_variable else same
    return None


def warn_of_cost_feature(
    source: str, features: Floats, names: Sequence[str] | None, costs: Floats, cost_names: Sequence[str]
) -> None:
    """Warn where a column of a table of features is a true cost."""
    found = None if len(costs) < FEWEST_ROWS else cost_feature(features, costs)
    if found is not None:
        feature, cost = found
        which = f"column {feature + 1}" if names is None else f"the column {names[feature]!r}"
        of = "each variable" if cost is None else repr(cost_names[cost])
        warnings.warn(
            f"{which} of {source} equals the true cost of {of} in every row. If it is not known before the decision, "
            "leave it out: figures with it mean nothing",
            RegretlessWarning,
            stacklevel=3,
        )
