"""The shortest route through every set of customers that fits a vehicle, by one dynamic program."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regretless.milp import Floats
from regretless.problems.complete_graph import graph_edges
from regretless.problems.feasible_sets import Ids, feasible_sets

MOST_SETS = 300_000


class RouteLengths:
    """Routes from the depot through all sets of at least two customers that fit (Held and Karp, 1962).

    What depends on the demands alone is listed once; then an instance takes one pass over all sets, by size.

    Args:
        demands: ``(customers,)``, at least 0.
        capacity: of a vehicle.

    Attributes:
        customers: ``(customers, sets)`` ones where a customer is in a set.
    """

    def __init__(self, demands: Floats, capacity: float) -> None:
        layers = feasible_sets(demands[None], np.array([capacity]), most=MOST_SETS)
        nodes = len(demands) + 1
        edge = np.zeros((nodes, nodes), dtype=np.int32)
        ends = graph_edges(nodes)
        edge[ends[:, 0], ends[:, 1]] = edge[ends[:, 1], ends[:, 0]] = np.arange(len(ends))
        self._members = [part.members + 1 for part in layers]
        self._home = [edge[0][members] for members in self._members]
        # Of each set and last customer: the set without that customer, and the edges from its members to the customer.
        self._before: list[Ids] = []
        self._steps: list[NDArray[np.int32]] = []
        for smaller, part in pairwise(layers):
            before = np.searchsorted(smaller.bits, part.bits[:, None] & ~(1 << part.members))
            self._before.append(before)
            self._steps.append(edge[smaller.members[before] + 1, part.members[:, :, None] + 1])
        bits = np.concatenate([np.zeros(0, dtype=np.int64), *(part.bits for part in layers[1:])])
        self.customers = ((bits >> np.arange(len(demands))[:, None]) & 1).astype(np.float64)
        self._ends = np.cumsum([0, *(len(part.bits) for part in layers[1:])])

    def __call__(self, costs: Floats) -> tuple[Floats, list[Floats]]:
        """Lengths of the shortest routes through all sets, and what ``route`` needs, for edge costs ``(d,)``.

        The second is, by size, the lengths ``(sets, size)`` of the shortest ways from the depot to each last customer.
        """
        ways = [costs[home] for home in self._home[:1]]
        for before, steps in zip(self._before, self._steps, strict=True):
            ahead = ways[-1].take(before, axis=0)
            ahead += costs.take(steps)
            ways.append(ahead.min(axis=2))
        closed = [(way + costs[home]).min(axis=1) for way, home in zip(ways[1:], self._home[1:], strict=True)]
        return np.concatenate([np.zeros(0), *closed]), ways

    def route(self, number: int, costs: Floats, ways: list[Floats]) -> list[int]:
        """Edges of the shortest route through set ``number``."""
        layer = int(np.searchsorted(self._ends, number, side="right"))
        place = number - int(self._ends[layer - 1])
        last = int((ways[layer][place] + costs[self._home[layer][place]]).argmin())
        edges = [int(self._home[layer][place, last])]
        while layer:
            steps, before = self._steps[layer - 1][place, last], int(self._before[layer - 1][place, last])
            last = int((ways[layer - 1][before] + costs[steps]).argmin())
            edges.append(int(steps[last]))
            layer, place = layer - 1, before
        return [*edges, int(self._home[0][place, 0])]
