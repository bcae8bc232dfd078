"""The linear relaxation of the travelling salesman in HiGHS, with subtour cuts added where they are violated."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from regretless.milp import Floats
from regretless.problems.complete_graph import graph_edges
from regretless.problems.travelling_salesman.subtours import violated_sets
from regretless.solvers.highs import bare_highs, highs_lp, run_program


class SubtourRelaxation:
    """Every node has degree 2, and every set of nodes is entered at least twice (Dantzig, Fulkerson, Johnson, 1954).

    Of the exponentially many sets only those that a solution violates become rows.
    """

    def __init__(self, nodes: int) -> None:
        self._highspy, self._highs = bare_highs("solve the travelling salesman")
        self.nodes, self._edges = nodes, graph_edges(nodes)
        self._columns = np.arange(len(self._edges), dtype=np.int32)
        d, two = len(self._edges), np.full(nodes, 2.0)
        ends = sparse.csc_array((np.ones(2 * d), self._edges.ravel(), np.arange(0, 2 * d + 1, 2)), shape=(nodes, d))
        self._highs.passModel(highs_lp(self._highspy, ends, two, two, np.zeros(d), np.ones(d)))

    def start(self, costs: Floats) -> None:
        """Take other costs, and forget the cuts and the basis of the last ones."""
        added = np.arange(self.nodes, self._highs.getNumRow(), dtype=np.int32)
        if len(added):
            self._highs.deleteRows(len(added), added)
        self._highs.clearSolver()
        self._highs.changeColsCost(len(costs), self._columns, costs)

    def minimum(self, lower: Floats, upper: Floats, value: float) -> tuple[Floats | None, float]:
        """The minimum with edges between ``lower`` and ``upper``, and its length.

        Returns:
            ``None`` for the minimum where it is not below ``value``, or where there is none.

        Raises:
            ProgramError: HiGHS fails.
        """
        self._highs.changeColsBounds(len(lower), self._columns, lower, upper)
        while True:
            if not run_program(self._highspy, self._highs):
                return None, np.inf
            length = float(self._highs.getInfo().objective_function_value)
            if length >= value:
                return None, length
            x = np.array(self._highs.getSolution().col_value)
            weights = np.zeros((self.nodes, self.nodes))
            weights[self._edges[:, 0], self._edges[:, 1]] = x
            cuts = violated_sets(weights + weights.T)
            if not cuts:
                return x, length
            for inside in cuts:
                crossing = np.flatnonzero(inside[self._edges[:, 0]] != inside[self._edges[:, 1]]).astype(np.int32)
                self._highs.addRow(2.0, self._highspy.kHighsInf, len(crossing), crossing, np.ones(len(crossing)))
