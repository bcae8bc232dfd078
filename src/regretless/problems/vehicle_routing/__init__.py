"""Vehicle routing with capacities: data, exact oracle and loader."""

from regretless.problems.vehicle_routing.load import load_vehicle_routing
from regretless.problems.vehicle_routing.oracle import RoutingOracle

__all__ = ["RoutingOracle", "load_vehicle_routing"]
