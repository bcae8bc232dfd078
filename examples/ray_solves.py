"""
Solves on Ray
=============

``executor="ray"`` runs exact solves on the actors of a cluster; without an address a small Ray starts on this
machine. The results are the same as with threads. Run it with::

    pip install ray
    python examples/ray_solves.py
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import torch
from matplotlib import pyplot as plt

import regretless as rl


def main() -> bool:
    executors = ["threads", "ray"]
    if find_spec("ray") is None:
        print("Ray is not installed: the example runs with threads only")
        executors = ["threads"]
    generator = np.random.default_rng(0)
    rows, costs = generator.integers(3, 9, size=(4, 24)), generator.uniform(1, 9, size=(40, 24))
    found = []
    for executor in executors:
        problem = rl.Problem(rl.MILP(rows, row_upper=40.0), sense="max", workers=2, executor=executor)
        found.append(problem.solve(costs).decision)
        print(f"{executor}: {problem.statistics.solves} solves")
    same = all(torch.equal(found[0], other) for other in found)
    print("same decisions:", same)

    _, axes = plt.subplots(figsize=(5, 2.2), layout="constrained")
    axes.imshow(found[-1][:8], cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
    axes.set(xlabel="item", ylabel="instance", title="chosen items of eight instances")
    return same


if __name__ == "__main__":
    main()
