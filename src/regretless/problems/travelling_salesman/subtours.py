"""Sets of nodes that a fractional tour enters too little: the cuts of the travelling salesman."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.milp import Floats

Mask = NDArray[np.bool_]
EPSILON = 1e-6


def violated_sets(weights: Floats) -> list[Mask]:
    """Sets S of nodes with ``weights(S, rest) < 2``, as masks; none where every cut has at least 2.

    Args:
        weights: ``(nodes, nodes)`` symmetric, in which every node has degree 2.

    Returns:
        The connected components where there are several; otherwise all cuts below 2 that the minimum cut algorithm of
        Stoer and Wagner (1997) meets. It meets a minimum cut, so no violation is overlooked.
    """
    parts = components(weights > EPSILON)
    if len(parts) > 1:
        return parts if len(parts) > 2 else parts[:1]
    return _small_cuts(weights)


def components(linked: Mask) -> list[Mask]:
    """Connected components of a graph ``(nodes, nodes)``, as masks."""
    left, found = np.ones(len(linked), dtype=bool), []
    while left.any():
        part = np.zeros(len(linked), dtype=bool)
        front = part.copy()
        front[left.argmax()] = True
        while front.any():
            part |= front
            front = linked[front].any(axis=0) & ~part
        left &= ~part
        found.append(part)
    return found


def _small_cuts(weights: Floats) -> list[Mask]:
    n = len(weights)
    between, merged = weights.copy(), np.eye(n, dtype=bool)
    closed = np.zeros(n)  # minus infinity for nodes that are part of another one
    found = []
    for size in range(n, 1, -1):
        # The node that is tied most to those visited comes next; the last one is cut off from all others.
        barred = closed.copy()
        node = int(closed.argmax())
        tied = np.zeros(n)
        for _ in range(size):
            before, node = node, int((tied + barred).argmax())
            barred[node], cut = -np.inf, tied[node]
            tied = tied + between[node]
        if cut < 2.0 - EPSILON:
            found.append(merged[node].copy())
        merged[before] |= merged[node]
        between[before] += between[node]
        between[:, before] = between[before]
        between[before, before], closed[node] = 0.0, -np.inf
        between[node] = between[:, node] = 0.0
    return found
