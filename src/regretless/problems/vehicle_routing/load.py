"""Vehicle routing by name, with costs from a formula."""

from __future__ import annotations

from functools import partial
from typing import Any

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import Floats
from regretless.problems.complete_graph import edge_costs, routes_milp
from regretless.problems.generated_problem import Settings
from regretless.problems.polynomial_costs import Formula, check_counts, random
from regretless.problems.vehicle_routing.oracle import RoutingOracle, fewest_vehicles

# PyEPO's notebook 04.
DEFAULTS: dict[str, Any] = {"train": 1000, "test": 100, "seed": 42, "split_seed": 135}


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
