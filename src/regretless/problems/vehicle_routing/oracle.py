"""Vehicle routing, exactly: all routes are listed, and a set partitioning program chooses among them."""

from __future__ import annotations

import math
import time

import numpy as np
from torch import Tensor

from regretless.errors import InputError
from regretless.milp import TOLERANCE, Floats
from regretless.problems.feasible_sets import Ids
from regretless.problems.one_by_one import one_by_one
from regretless.problems.polynomial_costs import check_counts
from regretless.problems.vehicle_routing.route_lengths import RouteLengths
from regretless.problems.vehicle_routing.set_partitioning import SetPartitioning
from regretless.solvers.engine import Outcome, relative_gap
from regretless.solvers.time_limit import check_time_limit
from regretless.types import Solved, Status

FIRST_ROUTES = 200
MARGIN = 1e-6  # of the linear program's own tolerance


class RoutingOracle:
    """Exact routes of vehicles with a capacity from one depot, one instance after the other, with HiGHS alone.

    The sets of customers that fit a vehicle are few enough to be listed: 106,466 with 20 customers and the standard
    demands. A dynamic program finds the shortest route through each. The linear relaxation of choosing routes gives a
    bound and, for every route, the least by which the cost exceeds the bound where that route is used. So only routes
    below the gap can be part of an optimum, and HiGHS chooses among these.

    Args:
        demands: ``(customers,)``, at least 0.
        capacity: of a vehicle.
        vehicles: how many there are; not all need be used. No route visits one customer alone, which would use an edge
            twice.
        time_limit: seconds for one instance. The best routes so far are returned then, where there are some, with
            their gap. The dynamic program and the relaxation are not interrupted.

    Raises:
        InputError: too few vehicles, or more sets of customers than can be listed.
    """

    def __init__(self, demands: Floats, capacity: float, vehicles: int, *, time_limit: float | None = None) -> None:
        check_counts(2, customers=len(demands))
        self.time_limit = check_time_limit(time_limit)
        least = fewest_vehicles(demands, capacity, vehicles)
        self._lengths = RouteLengths(demands, capacity)
        self._partitioning = SetPartitioning(self._lengths.customers, least, vehicles)
        # Routes that serve everybody at no particular cost. They are candidates for every instance: where many costs
        # are equal, the candidates of the relaxation may hold no complete choice.
        self._known = np.zeros(0, dtype=np.int64)
        edges = len(demands) * (len(demands) + 1) // 2
        found, among, _ = self._choose(self._lengths(np.random.default_rng(0).random(edges))[0], np.inf)
        if found.x is None:
            raise InputError(f"{vehicles} vehicles of capacity {capacity:g} cannot serve the demands {demands}")
        self._known = among[found.x > 0.5]

    def solve(self, costs: Tensor, instance: Tensor | None = None, *, decision: bool = False) -> Solved:
        """Solve ``(batch, edges)`` costs to minimize; see ``regretless.types.Backend``."""
        return one_by_one(self._solve_one, costs)

    def _solve_one(self, costs: Floats) -> Outcome:
        deadline = time.monotonic() + self.time_limit
        lengths, ways = self._lengths(costs)
        found, among, gap = self._choose(lengths, deadline)
        if found.x is None:
            return found
        solution = np.zeros(len(costs))
        for number in among[found.x > 0.5]:
            solution[self._lengths.route(int(number), costs, ways)] = 1.0
        return Outcome(solution, found.status, gap, found.message)

    def _choose(self, lengths: Floats, deadline: float) -> tuple[Outcome, Ids, float]:
        """The best choice of routes, the routes it is a choice of, and the relative gap left."""
        relaxed = self._partitioning.relaxed(lengths)
        if relaxed is None:
            none = Outcome(None, Status.INFEASIBLE, np.inf, "no choice of routes serves every customer")
            return none, self._known, np.inf
        bound, reduced = relaxed
        # Ties in a random order: the sets are listed by size, and many of one size make no complete choice.
        shuffled = np.random.default_rng(0).permutation(len(reduced))
        order, count = shuffled[np.argsort(np.round(reduced[shuffled], 7))], FIRST_ROUTES
        while True:
            seconds = deadline - time.monotonic()
            among = np.union1d(order[:count], self._known)
            found = self._partitioning.chosen(lengths, among, None if math.isinf(seconds) else max(seconds, 1e-3))
            above = np.inf if found.x is None else float(lengths[among] @ found.x) - bound
            # A route that is no candidate costs its reduced cost more than the bound, at least.
            needed = 0 if above <= MARGIN else int((reduced <= above + MARGIN).sum())
            if found.status is Status.OPTIMAL and needed <= count:
                return found, among, 0.0
            if found.status not in (Status.OPTIMAL, Status.INFEASIBLE) or count >= len(order):
                return found, among, relative_gap(bound + above, bound)
            count = needed if count < needed < 4 * count else 4 * count


def fewest_vehicles(demands: Floats, capacity: float, vehicles: int) -> int:
    """Vehicles that the sum of the demands needs at least.

    Raises:
        InputError: there are fewer.
    """
    check_counts(vehicles=vehicles)
    if not (np.isfinite(demands).all() and demands.min(initial=0.0) >= 0.0 and 0.0 < capacity < np.inf):
        raise InputError(f"demands must be at least 0 and capacity positive and finite, got {demands} and {capacity}")
    least = max(1, math.ceil(float(demands.sum()) / capacity - TOLERANCE))
    if least > vehicles:
        raise InputError(f"the demands need at least {least} vehicles of capacity {capacity:g}, got {vehicles}")
    return least
