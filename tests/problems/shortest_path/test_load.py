from __future__ import annotations

import numpy as np
import torch

from regretless.problems import load
from regretless.problems.polynomial_costs import Formula
from regretless.problems.shortest_path.load import shortest_path_data
from regretless.training import evaluate, fit
from regretless.training.methods import make_loss


def test_costs_are_those_of_pyepo_for_the_same_seed():
    x, c = shortest_path_data(Formula(instances=2, features=3, deg=2, noise=0.5, seed=135), 2, 3)
    np.testing.assert_allclose(x[0], [-0.48401119, -0.90454894, 0.14889955], rtol=1e-6)
    want = [0.57078457, 0.7737162, 1.2710733, 1.1224368, 1.1329169, 1.2054418, 0.8896708]
    np.testing.assert_allclose(c[1], want, rtol=1e-6)
    assert c.dtype == np.float32


def test_standard_setting_is_the_5_by_5_grid_with_1000_instances_each():
    loaded = load("shortest-path")
    assert (loaded.train.costs.shape, loaded.test.features.shape) == ((1000, 40), (1000, 5))
    assert loaded.problem.sense == "min"


def test_engines_give_the_same_optimal_values():
    special, general = (load("shortest-path", train=20, test=1, engine=engine) for engine in ("oracle", "highs"))
    torch.testing.assert_close(
        (special.train.costs * special.train.solutions).sum(1), (general.train.costs * general.train.solutions).sum(1)
    )


def test_map_with_5_per_cent_of_the_solves_beats_two_stage_where_a_line_is_wrong():
    loaded = load("shortest-path", deg=6, noise=0.0, train=200, test=500)
    regret = {}
    for method in ("two-stage", "map-dc"):
        model = loaded.model(0)
        loss = make_loss(method, loaded.problem, loaded.train, seed=0)
        fit(model, loss, loaded.train, epochs=20, lr=0.01, batch_size=32, seed=0, progress=False)
        regret[method] = evaluate(model, loaded.test, loaded.problem).relative_regret
    assert regret["map-dc"] < 0.8 * regret["two-stage"]
