"""The shortest path through a grid: data, formulation, exact oracle and loader."""

from regretless.problems.shortest_path.formulation import grid_edges, shortest_path_milp
from regretless.problems.shortest_path.load import load_shortest_path
from regretless.problems.shortest_path.oracle import ShortestPathOracle

__all__ = ["ShortestPathOracle", "grid_edges", "load_shortest_path", "shortest_path_milp"]
