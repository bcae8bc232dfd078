"""Vehicle routing, exactly: all routes are listed, and a set partitioning program chooses among them."""

from __future__ import annotations

import math
import time
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.milp import TOLERANCE, Floats
from regretless.problems.complete_graph import edge_costs, graph_edges, routes_milp
from regretless.problems.feasible_sets import Ids, feasible_sets
from regretless.problems.one_by_one import one_by_one
from regretless.problems.polynomial_costs import Formula, check_counts, random
from regretless.problems.set_partitioning import SetPartitioning
from regretless.problems.settings import Settings
from regretless.solvers.engine import Outcome, relative_gap
from regretless.solvers.time_limit import check_time_limit
from regretless.types import Solved, Status

MOST_SETS = 300_000
FIRST_ROUTES = 200
MARGIN = 1e-6  # of the linear program's own tolerance
# PyEPO's notebook 04.
DEFAULTS: dict[str, Any] = {"train": 1000, "test": 100, "seed": 42, "split_seed": 135}


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


def customer_demands(customers: int, seed: int) -> Floats:
    """Demands ``(customers,)`` from U(0, 10)."""
    check_counts(2, customers=customers)
    return random(seed).rand(customers) * 10


def load_vehicle_routing(
    name: str,
    *,
    customers: int = 20,
    capacity: float = 30.0,
    vehicles: int = 5,
    features: int = 10,
    deg: int = 4,
    noise: float = 0.5,
    **settings: Any,
) -> BenchmarkProblem:
    """Load ``vehicle-routing``: routes from a depot that serve all customers; costs belong to undirected edges.

    Args:
        name: ``vehicle-routing``.
        customers: number of nodes beside the depot.
        capacity: of a vehicle.
        vehicles: number of vehicles.
        features, deg, noise: of the formula; see ``distance_costs``.
        settings: see ``Settings``; the seed is that of the demands, too. Seeds, split and sizes are by default those of
            PyEPO's notebook on vehicle routing.
    """
    given = Settings(**DEFAULTS | settings)
    demands = customer_demands(customers, given.seed)
    model = routes_milp(demands, capacity, least=fewest_vehicles(demands, capacity, vehicles), most=vehicles)
    _, x, c = edge_costs(Formula(given.instances, features, deg, noise, given.seed), customers + 1)
    oracle = partial(RoutingOracle, demands, capacity, vehicles, time_limit=given.time_limit)
    return given.load(name, given.problem(model, "min", oracle), x, c)
