"""The shortest path through a grid, as a flow and by a dynamic program, with costs from a formula."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.problems.polynomial_costs import Costs, Formula, check_counts, polynomial_costs
from regretless.problems.settings import Settings
from regretless.types import Solved


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


class ShortestPathOracle:
    """Exact shortest paths on a grid of any size, for a whole batch at once.

    All edges lead from one diagonal to the next, so ``rows + columns - 2`` steps solve a whole batch. Costs may be
    negative: the grid has no cycles. It is written in numpy, whose calls cost less than torch's: in training there are
    often one or two instances to solve at a time.
    """

    def __init__(self, rows: int, columns: int) -> None:
        edges = grid_edges(rows, columns)
        self.edges, self.rows = len(edges), rows
        steps = rows + columns - 2
        # The edge into node (i, k - i) of diagonal k from the left, and from above; a last edge of infinite cost
        # stands for those that do not exist.
        self._into = np.full((2, steps, rows), self.edges)
        for edge, (start, end) in enumerate(edges.tolist()):
            i, j = divmod(end, columns)
            self._into[int(end == start + columns), i + j - 1, i] = edge

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, edges)`` costs to minimize; see ``regretless.types.Backend``."""
        if costs.dtype == torch.bfloat16:  # unknown to NumPy
            costs = costs.to(torch.float64)
        padded = np.full((self.edges + 1, len(costs)), np.inf)  # instances last: a step reads and writes whole rows
        padded[:-1] = costs.detach().cpu().numpy().T
        across, below = padded[self._into]
        length = np.full((self.rows + 1, len(costs)), np.inf)  # row 0 stands above the first row of the grid
        length[1] = 0.0
        from_above = np.empty(across.shape, dtype=bool)
        for step in range(len(across)):
            level, descent = length[1:] + across[step], length[:-1] + below[step]
            np.less(descent, level, out=from_above[step])
            np.minimum(level, descent, out=length[1:])
        return Solved(torch.from_numpy(self._paths(from_above)).to(costs.device))

    def _paths(self, from_above: NDArray[np.bool_]) -> Floats:
        """Follow the choices back from the last node: ``(batch, edges)`` zeros and ones."""
        steps, _, batch = from_above.shape
        solution, each = np.zeros((batch, self.edges)), np.arange(batch)
        row = np.full(batch, self.rows - 1)
        for step in range(steps - 1, -1, -1):
            above = from_above[step, row, each].astype(np.int64)
            solution[each, self._into[above, step, row]] = 1.0
            row -= above
        return solution


def shortest_path_data(formula: Formula, rows: int, columns: int) -> tuple[Floats, Costs]:
    """Features ``(n, p)`` and edge costs ``(n, d)``; see ``polynomial_costs``."""
    x, c = polynomial_costs(formula.random(), formula, len(grid_edges(rows, columns)))
    return x, c.astype(np.float32)


def load_shortest_path(
    name: str, *, rows: int = 5, columns: int = 5, features: int = 5, deg: int = 4, noise: float = 0.5, **settings: Any
) -> BenchmarkProblem:
    """Load ``shortest-path``: the cheapest way from one corner of a grid to the opposite one.

    Args:
        name: ``shortest-path``.
        rows, columns: of the grid.
        features, deg, noise: of the formula; see ``polynomial_costs``.
        settings: see ``Settings``.
    """
    given = Settings(**settings)
    x, c = shortest_path_data(Formula(given.instances, features, deg, noise, given.seed), rows, columns)
    oracle = partial(ShortestPathOracle, rows, columns)
    return given.load(name, given.problem(shortest_path_milp(rows, columns), "min", oracle), x, c)
