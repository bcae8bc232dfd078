"""The relaxation layer and proxsuite's QP layer: CPU milliseconds per instance, forward and backward, one thread.

Knapsack-120 in batches of 64 and energy-1 in batches of 8, on real days. The best of several runs is printed with
the targets. REGRETLESS_DATA names the folder of the public files:

python benchmarks/relaxation.py [--runs 5] [--without-proxsuite]
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from regretless.errors import FileError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems import irish_market
from regretless.problems.energy import formulate
from regretless.problems.energy.load import energy_instance
from regretless.problems.knapsack.oracle import knapsack_milp
from regretless.relaxation import BarrierProgram, QuadraticProgram, Relaxation

# Largest milliseconds per instance of the forward and the backward pass.
TARGETS = {"knapsack-120": (1.0, 0.1), "energy-1": (40.0, None)}
SMOOTHING = 0.01  # of the largest cost


def measure(layer: Callable[[Tensor], Tensor], costs: Tensor, runs: int) -> tuple[float, float, Tensor]:
    """Best CPU milliseconds per instance of the forward and the backward pass, and the solutions."""
    best = [float("inf"), float("inf")]
    for _ in range(runs + 1):  # the first run builds what later runs reuse
        given = costs.clone().requires_grad_()
        start = time.process_time()
        x = layer(given)
        middle = time.process_time()
        (x * x.detach()).sum().backward()
        end = time.process_time()
        best = [min(best[0], middle - start), min(best[1], end - middle)]
    return best[0] / len(costs) * 1e3, best[1] / len(costs) * 1e3, x.detach()


def proxsuite_layer(milp: MILP, tau: float) -> Callable[[Tensor], Tensor]:
    """Proxsuite's layer on the same rows and bounds, with the scaling that it needs."""
    from proxsuite.torch.qplayer import QPFunction

    A = milp.A.toarray()
    filled = np.abs(A).max(axis=1) > 0
    length = np.where(filled, np.linalg.norm(A, axis=1), 1.0)
    A, low, high = A / length[:, None], milp.row_lower / length, milp.row_upper / length
    equal, other = (low == high) & filled, (low != high) & filled
    rows = np.vstack([A[other], np.eye(milp.n)])
    lower, upper = np.r_[np.maximum(low[other], -1e20), milp.lower], np.r_[high[other], milp.upper]
    Q, E, e, G, g, u = map(torch.tensor, (np.eye(milp.n), A[equal], low[equal], rows, lower, upper))
    solve = QPFunction(eps=1e-9)
    return lambda c: solve(Q, c / tau, E, e, G, g, u)[0]


def cases() -> dict[str, tuple[MILP, Tensor]]:
    """Models without their cost maps, and costs over their variables."""
    _, values, weights = irish_market.knapsack_data()
    _, prices = irish_market.energy_data()
    energy = formulate(energy_instance("energy-1"))
    assert energy.cost_map is not None
    plain = MILP(energy.A, energy.row_lower, energy.row_upper, energy.lower, energy.upper)
    days = np.linspace(0, len(values) - 1, 64).astype(int)
    return {
        "knapsack-120": (knapsack_milp(weights, 120), torch.tensor(-values[days])),
        "energy-1": (plain, torch.tensor(prices[days[:8]] @ energy.cost_map.toarray())),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="number of runs; the best counts")
    parser.add_argument("--without-proxsuite", action="store_true", help="skip the comparison")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    try:
        models = cases()
    except FileError as error:
        print(f"skipped: {error}")
        return 0
    compare = not arguments.without_proxsuite and importlib.util.find_spec("proxsuite") is not None
    if not compare:
        print("proxsuite is skipped: switched off or not installed")
    missed = 0
    print("problem       layer      forward  backward  ms per instance")
    for name, (milp, costs) in models.items():
        size = float(costs.abs().max())
        programs = {"QPTL": QuadraticProgram(tau=SMOOTHING * size), "Interior": BarrierProgram(cutoff=SMOOTHING * size)}
        found = {}
        for label, program in programs.items():
            found[label] = measure(Relaxation(Problem(milp), program), costs, arguments.runs)
            forward, backward, _ = found[label]
            verdicts = [
                "" if most is None else f" ({'within' if ms <= most else 'OVER'} {most:g})"
                for ms, most in zip((forward, backward), TARGETS[name], strict=True)
            ]
            missed += sum("OVER" in verdict for verdict in verdicts)
            print(f"{name:13} {label:10} {forward:7.3f}{verdicts[0]}  {backward:7.4f}{verdicts[1]}")
        if compare:
            forward, backward, x = measure(proxsuite_layer(milp, SMOOTHING * size), costs, 1)
            ours = found["QPTL"]
            apart = float((x - ours[2]).abs().max())
            print(
                f"{name:13} {'proxsuite':10} {forward:7.3f}  {backward:7.4f}  "
                f"= {forward / ours[0]:.1f} and {backward / ours[1]:.1f} times QPTL; solutions differ by {apart:.0e}"
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
