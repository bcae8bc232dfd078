"""
A deep model
============

Any ``nn.Module`` that maps features to costs can be trained. Here a small network reads the map of a 5 by 5 grid and
predicts the costs of its edges for the shortest path. Run it with::

    python examples/deep_model.py
"""

from __future__ import annotations

import torch
from matplotlib import pyplot as plt
from torch import nn

import regretless as rl
from regretless.problems.pictures import draw_edges
from regretless.problems.shortest_path import grid_edges


def network(features: int, edges: int) -> nn.Module:
    return nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, edges))


def main() -> dict[str, float]:
    loaded = rl.load("shortest-path", deg=6, train=600, test=200)
    problem, train, test = loaded.problem, loaded.train, loaded.test
    torch.manual_seed(0)
    net = network(train.features.shape[1], problem.dimension)
    relative = {}
    for name, model in (("linear", loaded.model(0)), ("deep", net)):
        cache = rl.SolutionCache(problem, train.solutions, p_solve=0.05, seed=0)
        rl.fit(model, rl.SPOPlus(cache), train, epochs=20, lr=0.005, batch_size=32, progress=False)
        relative[name] = rl.evaluate(model, test, problem).relative_regret
        print(f"{name} model: paths are {100 * relative[name]:.1f} % longer than the shortest")

    places = [(node % 5, -(node // 5)) for node in range(25)]
    chosen = problem.solve(rl.predict(net, test.features[:1])).solution[0]
    _, (left, right) = plt.subplots(1, 2, figsize=(6, 3))
    draw_edges(left, places, grid_edges(5, 5), chosen, title="at the prediction")
    draw_edges(right, places, grid_edges(5, 5), test.solutions[0], title="shortest")
    return relative


if __name__ == "__main__":
    main()
