"""Vehicle routing by name, with costs from a formula."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import Floats
from regretless.problems.complete_graph import edge_costs, routes_milp
from regretless.problems.generated_problem import Sizes, exact_problem, generated_problem
from regretless.problems.polynomial_costs import check_counts, random
from regretless.problems.vehicle_routing.oracle import RoutingOracle, fewest_vehicles


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
    train: int = 1000,
    test: int = 100,
    validation: int = 0,
    split_seed: int | None = 135,
    seed: int = 42,
    engine: str = "oracle",
    workers: int = 1,
    time_limit: float | None = None,
    store: Path | str | None = None,
) -> BenchmarkProblem:
    """Load ``vehicle-routing``: routes from a depot that serve all customers; costs belong to undirected edges.

    Seeds, split and sizes are by default those of PyEPO's notebook on vehicle routing.

    Args:
        name: ``vehicle-routing``.
        customers: number of nodes beside the depot.
        capacity: of a vehicle.
        vehicles: number of vehicles.
        features, deg, noise: of the formula; see ``distance_costs``.
        train, test, validation, split_seed: of the parts; see ``Sizes``.
        seed: of the costs, and of the demands.
        engine: ``oracle``, or an engine for the model.
        workers: threads, for engines.
        time_limit: seconds for one solve.
        store: folder that keeps true optima.
    """
    sizes = Sizes(train, test, validation, split_seed)
    demands = customer_demands(customers, seed)
    least = fewest_vehicles(demands, capacity, vehicles)
    _, x, c = edge_costs(sizes.total, nodes=customers + 1, features=features, deg=deg, noise=noise, seed=seed)
    problem = exact_problem(
        routes_milp(demands, capacity, least=least, most=vehicles),
        partial(RoutingOracle, demands, capacity, vehicles, time_limit=time_limit),
        sense="min",
        engine=engine,
        workers=workers,
        time_limit=time_limit,
    )
    return generated_problem(name, problem, x, c, sizes, store=store)
