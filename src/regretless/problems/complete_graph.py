"""Routes on the complete graph: its edges in PyEPO's order, their costs, a model of routes, and routes from edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.spatial.distance import pdist

from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.problems.polynomial_costs import Costs, Formula, check_counts, distance_costs, places


def graph_edges(nodes: int) -> NDArray[np.int64]:
    """Edges ``(d, 2)`` of the complete graph: (0, 1), (0, 2) ... (1, 2) ...

    >>> graph_edges(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.stack(np.triu_indices(nodes, 1), axis=1)


def edge_costs(formula: Formula, nodes: int) -> tuple[Floats, Floats, Costs]:
    """Coordinates ``(nodes, 2)``, features ``(n, p)`` and edge costs ``(n, d)``; see ``distance_costs``."""
    check_counts(3, nodes=nodes)
    rng = formula.random()
    coordinates = places(rng, nodes)
    x, c = distance_costs(rng, formula, pdist(coordinates))
    return coordinates, x, np.around(c, decimals=4).astype(np.float32)


def routes_milp(demands: Floats, capacity: float, *, least: int, most: int) -> MILP:
    """Between ``least`` and ``most`` routes from node 0 that visit every other node once, in both directions at a time.

    A directed edge has a binary that says whether it is used, and a load: what the vehicle still carries there. A route
    to one node alone would use an edge twice and is excluded (Gavish and Graves, 1978).

    Args:
        demands: ``(nodes - 1,)`` of nodes 1, 2, ...
        capacity: of a vehicle.
        least, most: number of vehicles that leave node 0.

    Returns:
        The model; its cost space is the undirected edges.
    """
    nodes, edges = len(demands) + 1, graph_edges(len(demands) + 1)
    d = len(edges)
    start, end = np.concatenate([edges, edges[:, ::-1]]).T
    arcs, zero = np.arange(2 * d), sparse.csr_array((nodes, 2 * d))
    out = sparse.csr_array((np.ones(2 * d), (start, arcs)), shape=(nodes, 2 * d))
    into = sparse.csr_array((np.ones(2 * d), (end, arcs)), shape=(nodes, 2 * d))
    one = np.ones(nodes)
    vehicles_low, vehicles_high = one.copy(), one.copy()
    vehicles_low[0], vehicles_high[0] = least, most
    needs = np.concatenate([[-demands.sum()], demands])
    twice = sparse.hstack([sparse.eye_array(d), sparse.eye_array(d)])
    blocks = [
        (out, zero, vehicles_low, vehicles_high),
        (into, zero, vehicles_low, vehicles_high),
        (zero, into - out, needs, needs),
        (-capacity * sparse.eye_array(2 * d), sparse.eye_array(2 * d), np.full(2 * d, -np.inf), np.zeros(2 * d)),
        (twice, sparse.csr_array((d, 2 * d)), np.full(d, -np.inf), np.ones(d)),
    ]
    return MILP(
        sparse.vstack([sparse.hstack(block[:2]) for block in blocks]),
        row_lower=np.concatenate([block[2] for block in blocks]),
        row_upper=np.concatenate([block[3] for block in blocks]),
        upper=np.concatenate([np.ones(2 * d), np.full(2 * d, float(capacity))]),
        integer=np.arange(4 * d) < 2 * d,
        cost_map=sparse.hstack([twice, sparse.csr_array((d, 2 * d))]),
    )


def routes(solution: ArrayLike, nodes: int) -> list[list[int]]:
    """The routes of chosen edges ``(d,)``, each from node 0 back to node 0.

    Raises:
        InputError: the edges are no routes through node 0 that visit every node.

    >>> routes([1, 1, 1], 3)
    [[0, 1, 2, 0]]
    """
    chosen = graph_edges(nodes)[np.asarray(solution) > 0.5]
    neighbors: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in chosen.tolist():
        neighbors[a].append(b)
        neighbors[b].append(a)
    found: list[list[int]] = []
    while neighbors[0]:
        route = [0]
        while len(route) == 1 or route[-1] != 0:
            here = route[-1]
            if not neighbors[here]:
                raise InputError(f"the edges are no routes through node 0: the way ends at node {here}")
            route.append(neighbors[here].pop(0))
            neighbors[route[-1]].remove(here)
        found.append(route)
    if sum(len(route) - 2 for route in found) != nodes - 1 or any(neighbors):
        raise InputError(f"the edges are no routes through node 0 that visit all {nodes} nodes, got {found}")
    return found
