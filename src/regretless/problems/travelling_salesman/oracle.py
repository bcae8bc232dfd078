"""The shortest tour, exactly: a branch and bound over the subtour relaxation."""

from __future__ import annotations

import threading
import time

import numpy as np
from torch import Tensor

from regretless.milp import Floats
from regretless.problems.one_by_one import LARGEST, one_by_one
from regretless.problems.polynomial_costs import check_counts
from regretless.problems.travelling_salesman.relaxation import SubtourRelaxation
from regretless.problems.travelling_salesman.subtours import EPSILON
from regretless.solvers.engine import Outcome, relative_gap
from regretless.solvers.time_limit import check_time_limit
from regretless.types import Solved, Status

# A tour that is shorter by less than this is not searched for; costs are scaled to at most LARGEST.
NO_SHORTER = 1e-12 * LARGEST


class TourOracle:
    """Exact shortest tours of the symmetric travelling salesman, one instance after the other, with HiGHS.

    At 20 nodes about four small linear programs solve an instance. Every instance starts from the same state: at this
    size that is faster than to keep the cuts of others, and the answer depends on the costs alone.

    Args:
        nodes: at least 3.
        time_limit: seconds for one instance. The best tour so far is returned then, where there is one, with its gap.
    """

    def __init__(self, nodes: int, *, time_limit: float | None = None) -> None:
        check_counts(3, nodes=nodes)
        self.nodes, self.time_limit = nodes, check_time_limit(time_limit)
        self._local = threading.local()  # a HiGHS object belongs to one thread

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, edges)`` costs to minimize; see ``regretless.types.Backend``."""
        return one_by_one(self._solve_one, costs)

    def _solve_one(self, costs: Floats) -> Outcome:
        deadline = time.monotonic() + self.time_limit
        if not hasattr(self._local, "relaxation"):
            self._local.relaxation = SubtourRelaxation(self.nodes)
        relaxation: SubtourRelaxation = self._local.relaxation
        relaxation.start(costs)
        best: Floats | None = None
        value, bound = np.inf, -np.inf
        # Bounds of the edges: a node of the search is given by the edges that it demands or forbids.
        waiting = [(np.zeros(len(costs)), np.ones(len(costs)))]
        while waiting:
            if time.monotonic() > deadline:
                gap = np.inf if best is None else relative_gap(value, bound)
                return Outcome(best, Status.TIME_LIMIT, gap, f"the search stopped after {self.time_limit:g} s")
            lower, upper = waiting.pop()
            x, length = relaxation.minimum(lower, upper, value - NO_SHORTER)
            bound = length if bound == -np.inf else bound  # the first relaxation bounds all tours
            if x is None:
                continue
            fraction = np.abs(x - np.round(x))
            edge = int(fraction.argmax())
            if fraction[edge] < EPSILON:
                best = np.round(x)
                value = float(costs @ best)
                continue
            without, with_edge = upper.copy(), lower.copy()
            without[edge], with_edge[edge] = 0.0, 1.0
            waiting += [(lower, without), (with_edge, upper)]
        if best is None:
            return Outcome(None, Status.ERROR, np.inf, "HiGHS found no tour, although every complete graph has one")
        return Outcome(best, Status.OPTIMAL)
