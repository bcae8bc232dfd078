"""The travelling salesman, exactly: a branch and bound over the subtour relaxation, whose cuts are added as needed."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import Floats
from regretless.problems.complete_graph import edge_costs, graph_edges, routes_milp
from regretless.problems.one_by_one import LARGEST, one_by_one
from regretless.problems.polynomial_costs import Formula, check_counts
from regretless.problems.settings import Settings
from regretless.solvers.engine import Outcome, relative_gap
from regretless.solvers.highs import bare_highs, highs_lp, run_program
from regretless.solvers.time_limit import check_time_limit
from regretless.types import Solved, Status

Mask = NDArray[np.bool_]
EPSILON = 1e-6
# A tour that is shorter by less than this is not searched for; costs are scaled to at most LARGEST.
NO_SHORTER = 1e-12 * LARGEST


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


def load_travelling_salesman(
    name: str, *, nodes: int = 20, features: int = 10, deg: int = 4, noise: float = 0.5, **settings: Any
) -> BenchmarkProblem:
    """Load ``travelling-salesman``: the shortest tour through all nodes; costs belong to undirected edges.

    Args:
        name: ``travelling-salesman``.
        nodes: number of nodes.
        features, deg, noise: of the formula; see ``distance_costs``.
        settings: see ``Settings``.
    """
    given = Settings(**settings)
    _, x, c = edge_costs(Formula(given.instances, features, deg, noise, given.seed), nodes)
    model = routes_milp(np.ones(nodes - 1), nodes - 1, least=1, most=1)
    problem = given.problem(model, "min", partial(TourOracle, nodes, time_limit=given.time_limit))
    return given.load(name, problem, x, c)
