"""The shortest path from the first to the last node of a grid, as a flow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.problems.polynomial_costs import check_counts


def grid_edges(rows: int, columns: int) -> NDArray[np.int64]:
    """Edges ``(d, 2)`` from node to node, to the right and down, in PyEPO's order.

    Nodes are counted row by row. First come the edges to the right in the first row, then those down from it, then
    those of the second row, and so on.

    >>> grid_edges(2, 2).tolist()
    [[0, 1], [0, 2], [1, 3], [2, 3]]
    """
    check_counts(rows=rows, columns=columns)
    if rows * columns < 2:
        raise InputError("a grid must have at least 2 nodes, got 1 row and 1 column")
    node = np.arange(rows * columns).reshape(rows, columns)
    blocks = []
    for i in range(rows):
        blocks.append(np.stack([node[i, :-1], node[i, 1:]], axis=1))
        if i < rows - 1:
            blocks.append(np.stack([node[i], node[i + 1]], axis=1))
    return np.concatenate(blocks)


def shortest_path_milp(rows: int, columns: int) -> MILP:
    """One unit of flow from the first node to the last; its vertices are paths, so no variable need be integer."""
    edges = grid_edges(rows, columns)
    d, nodes = len(edges), rows * columns
    ends = (np.concatenate([edges[:, 0], edges[:, 1]]), np.tile(np.arange(d), 2))
    balance = np.zeros(nodes)
    balance[0], balance[-1] = 1.0, -1.0
    signs = np.concatenate([np.ones(d), -np.ones(d)])
    A = sparse.csr_array((signs, ends), shape=(nodes, d))
    return MILP(A, row_lower=balance, row_upper=balance, integer=False)
