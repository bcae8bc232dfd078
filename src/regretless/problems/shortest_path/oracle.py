"""All shortest paths of a batch at once, by a dynamic program over the diagonals of the grid."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.milp import Floats
from regretless.problems.shortest_path.formulation import grid_edges
from regretless.types import Solved


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
