from __future__ import annotations

import torch

from regretless.problems import load
from regretless.problems.complete_graph import routes


def test_standard_setting_has_20_nodes_and_10_features():
    loaded = load("travelling-salesman", train=5, test=2)
    assert (loaded.train.costs.shape, loaded.train.features.shape) == ((5, 190), (5, 10))
    assert all(len(routes(solution, 20)) == 1 for solution in loaded.train.solutions)
    assert loaded.problem.sense == "min"


def test_the_flow_model_gives_the_same_optimal_values():
    special, general = (load("travelling-salesman", nodes=7, train=5, test=1, engine=e) for e in ("oracle", "highs"))
    torch.testing.assert_close(
        (special.train.costs * special.train.solutions).sum(1), (general.train.costs * general.train.solutions).sum(1)
    )
