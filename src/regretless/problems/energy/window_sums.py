"""Sums of consecutive prices: the cost of each start of a task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regretless.milp import Floats


def window_sums(costs: Floats, lengths: Sequence[int]) -> dict[int, Floats]:
    """Sums of ``length`` consecutive columns of ``costs (batch, slots)``: ``{length: (batch, slots - length + 1)}``.

    Windows are composed of windows whose length is a power of two. Prefix sums would lose small prices beside a huge
    one, and a matrix product rounds differently depending on the batch size.
    """
    slots = costs.shape[1]
    doubled = [costs]
    while 2 ** len(doubled) <= max(lengths):
        half, size = doubled[-1], 2 ** (len(doubled) - 1)
        doubled.append(half[:, : slots - 2 * size + 1] + half[:, size : slots - size + 1])
    sums = {}
    for length in lengths:
        width, at, total = slots - length + 1, 0, None
        for power, part in enumerate(doubled):
            if length >> power & 1:
                piece = part[:, at : at + width]
                total, at = piece if total is None else total + piece, at + 2**power
        assert total is not None, "a length is at least 1"
        sums[length] = total
    return sums


def without_overflow(costs: Floats) -> Floats:
    """Scale rows whose sums would overflow by a power of two, which does not change their optima."""
    if not costs.size or np.abs(costs).max() < 2.0**900:
        return costs
    return np.where(np.abs(costs).max(axis=1, keepdims=True) < 2.0**900, costs, costs * 2.0**-200)
