"""The same seed gives the same arrays as PyEPO, bit for bit, and its models have the same optima.

python benchmarks/peers/same_data.py            runs itself in the peers' environment too, and prints a table

PEERS_PYTHON names another Python that has PyEPO. Optima need Gurobi, whose free licence is enough; without it they are
left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
PEER = Path(os.environ.get("PEERS_PYTHON", ROOT / ".venv-peers" / "bin" / "python"))
SOLVED = 3
# A problem, and the settings in which it is compared; those of a second line differ from the defaults.
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("shortest-path", {"rows": 5, "columns": 5, "features": 5, "deg": 4, "noise": 0.5, "seed": 135}),
    ("shortest-path", {"rows": 3, "columns": 6, "features": 7, "deg": 6, "noise": 0.0, "seed": 1}),
    ("multi-knapsack", {"items": 32, "rows": 2, "features": 5, "deg": 4, "noise": 0.5, "seed": 135}),
    ("multi-knapsack", {"items": 10, "rows": 3, "features": 4, "deg": 2, "noise": 0.2, "seed": 7}),
    ("travelling-salesman", {"nodes": 20, "features": 10, "deg": 4, "noise": 0.5, "seed": 135}),
    ("travelling-salesman", {"nodes": 7, "features": 3, "deg": 1, "noise": 0.0, "seed": 3}),
    ("vehicle-routing", {"nodes": 21, "features": 10, "deg": 4, "noise": 0.5, "seed": 42}),
    ("portfolio", {"assets": 50, "features": 5, "deg": 4, "noise": 1.0, "seed": 135}),
    ("portfolio", {"assets": 8, "features": 3, "deg": 1, "noise": 2.0, "seed": 5}),
)
INSTANCES = 100
Arrays = dict[str, np.ndarray]


def theirs(name: str, s: dict[str, Any]) -> tuple[Arrays, Any]:
    """PyEPO's arrays and its model under Gurobi; runs in the peers' environment."""
    from pyepo import data
    from pyepo.model import grb

    formula = {"deg": s["deg"], "seed": s["seed"]}
    noisy = formula | {"noise_width": s["noise"]}
    if name == "shortest-path":
        x, c = data.shortestpath.genData(INSTANCES, s["features"], (s["rows"], s["columns"]), **noisy)
        return {"features": x, "costs": c}, lambda: grb.shortestPathModel((s["rows"], s["columns"]))
    if name == "multi-knapsack":
        w, x, c = data.knapsack.genData(INSTANCES, s["features"], s["items"], dim=s["rows"], **noisy)
        return {"weights": w, "features": x, "costs": c}, lambda: grb.knapsackModel(w, [20.0] * s["rows"])
    if name == "portfolio":
        cov, x, c = data.portfolio.genData(INSTANCES, s["features"], s["assets"], noise_level=s["noise"], **formula)
        return {"covariance": cov, "features": x, "costs": c}, lambda: grb.portfolioModel(s["assets"], cov)
    x, c = data.tsp.genData(INSTANCES, s["features"], s["nodes"], **noisy)
    if name == "travelling-salesman":
        return {"features": x, "costs": c}, lambda: grb.tspDFJModel(s["nodes"])
    np.random.seed(s["seed"])  # as in PyEPO's notebook 04
    demands = np.random.rand(s["nodes"] - 1) * 10
    return {"features": x, "costs": c, "demands": demands}, lambda: grb.vrpRCIModel(s["nodes"], demands, 30, 5)


def ours(name: str, s: dict[str, Any]) -> tuple[Arrays, Any]:
    """Our arrays and our problem."""
    from regretless import Problem
    from regretless.problems.complete_graph import edge_costs
    from regretless.problems.multi_knapsack import MultiKnapsackOracle, multi_knapsack_data
    from regretless.problems.polynomial_costs import Formula
    from regretless.problems.portfolio import portfolio_data, portfolio_program
    from regretless.problems.shortest_path import ShortestPathOracle, shortest_path_data
    from regretless.problems.travelling_salesman import TourOracle
    from regretless.problems.vehicle_routing import RoutingOracle, customer_demands

    formula = Formula(INSTANCES, s["features"], s["deg"], s["noise"], s["seed"])
    if name == "shortest-path":
        x, c = shortest_path_data(formula, s["rows"], s["columns"])
        oracle: Any = ShortestPathOracle(s["rows"], s["columns"])
        return {"features": x, "costs": c}, Problem(oracle=oracle, dimension=c.shape[1])
    if name == "multi-knapsack":
        w, x, c = multi_knapsack_data(formula, s["items"], s["rows"])
        oracle = MultiKnapsackOracle(w, np.full(len(w), 20.0))
        problem = Problem(oracle=oracle, dimension=c.shape[1], sense="max")
        return {"weights": w, "features": x, "costs": c}, problem
    if name == "portfolio":
        cov, x, c = portfolio_data(formula, s["assets"])
        problem = Problem(portfolio_program(cov, 2.25), sense="max")
        return {"covariance": cov, "features": x, "costs": c}, problem
    _, x, c = edge_costs(formula, s["nodes"])
    if name == "travelling-salesman":
        return {"features": x, "costs": c}, Problem(oracle=TourOracle(s["nodes"]), dimension=c.shape[1])
    demands = customer_demands(s["nodes"] - 1, s["seed"])
    problem = Problem(oracle=RoutingOracle(demands, 30.0, 5), dimension=c.shape[1])
    return {"features": x, "costs": c, "demands": demands}, problem


def peer(folder: Path) -> None:
    """Write PyEPO's arrays and optima."""
    for number, (name, settings) in enumerate(CASES):
        arrays, make = theirs(name, settings)
        try:
            model = make()
            optima = []
            for costs in arrays["costs"][:SOLVED]:
                model.setObj(costs)
                optima.append(model.solve()[1])
            arrays["optima"] = np.array(optima)
        except Exception as error:  # no licence, or no Gurobi
            print(f"{name}: no optima from PyEPO: {error}", file=sys.stderr)
        np.savez(folder / f"{number}.npz", **arrays)


def compare(folder: Path) -> bool:
    """Print one line per case; say whether everything agrees."""
    print(f"{'problem':20} {'settings':62} {'arrays':44} optima, relative difference")
    good = True
    for number, (name, settings) in enumerate(CASES):
        other, (arrays, problem) = dict(np.load(folder / f"{number}.npz")), ours(name, settings)
        same = {
            key: array.dtype == other[key].dtype and np.array_equal(array, other[key]) for key, array in arrays.items()
        }
        words = ", ".join(f"{key} {'equal' if equal else 'DIFFER'}" for key, equal in same.items())
        difference = "not compared"
        if "optima" in other:
            found = problem.solve(arrays["costs"][:SOLVED]).objective.numpy()
            worst = float(np.abs(found / other["optima"] - 1.0).max())
            difference, good = f"{worst:.0e}", good and worst < 1e-5
        good = good and all(same.values())
        print(f"{name:20} {', '.join(f'{k} {v}' for k, v in settings.items()):62} {words:44} {difference}")
    return good


def main() -> int:
    if len(sys.argv) > 1:
        peer(Path(sys.argv[1]))
        return 0
    if not PEER.exists():
        print(f"{PEER} is missing: run `make bench-peers`, which makes it", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([str(PEER), __file__, folder], check=True, stdout=subprocess.DEVNULL)
        return 0 if compare(Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
