"""Knapsack problems by name: the published protocol, checked on the public data where it is present."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.errors import InputError
from regretless.problems import load
from regretless.training import evaluate, fit
from regretless.training.methods import make_loss


def least_squares(loaded):
    """The converged two-stage model, in closed form."""
    x = loaded.train.features.double()
    design = torch.cat([x, torch.ones(*x.shape[:2], 1)], dim=2).reshape(-1, x.shape[2] + 1).numpy()
    weights = np.linalg.lstsq(design, loaded.train.costs.reshape(-1).numpy(), rcond=None)[0]
    model = loaded.model(0)
    with torch.no_grad():
        model.linear.weight[0] = torch.as_tensor(weights[:-1])
        model.linear.bias[0] = float(weights[-1])
    return model


@pytest.mark.data
@pytest.mark.parametrize(("capacity", "regret"), [(60, 988), (120, 1095), (180, 431)])
def test_least_squares_has_the_published_error_and_regret(capacity, regret):
    loaded = load(f"knapsack-{capacity}")
    result = evaluate(least_squares(loaded), loaded.test, loaded.problem)
    assert (round(result.mse), round(result.regret)) == (34094, regret)
    assert (len(loaded.train), len(loaded.validation), len(loaded.test)) == (552, 60, 177)
    assert round(float(loaded.test.costs.square().mean())) == 150218


@pytest.mark.data
@pytest.mark.parametrize(("capacity", "unique"), [(60, 541), (120, 548), (180, 502)])
def test_training_optima_are_as_many_as_the_protocol_counts(capacity, unique):
    loaded = load(f"knapsack-{capacity}")
    cache = make_loss("map-dc", loaded.problem, loaded.train).oracle
    assert abs(len(cache) - unique) <= 3  # ties between optima may fall either way


@pytest.mark.data
@pytest.mark.parametrize(
    ("method", "epochs", "p_solve", "published", "tolerance"),
    [
        pytest.param("map-dc", 20, 1.0, 562, 6, marks=pytest.mark.slow),
        pytest.param("map-2c", 20, 1.0, 591, 10, marks=pytest.mark.slow),
        pytest.param("spo", 20, None, 578, 5, marks=pytest.mark.slow),
        ("spo-cache", 8, 0.05, 558, 12),
    ],
)
def test_published_regrets_of_knapsack_120_are_reproduced(method, epochs, p_solve, published, tolerance):
    loaded = load("knapsack-120")
    settings = {} if p_solve is None else {"p_solve": p_solve, "grow_at": "predicted"}
    regrets = []
    for seed in range(3):
        model = loaded.model(seed)
        loss = make_loss(method, loaded.problem, loaded.train, seed=seed, **settings)
        fit(model, loss, loaded.train, epochs=epochs, lr=0.7, batch_size=24, seed=seed, progress=False)
        regrets.append(evaluate(model, loaded.test, loaded.problem).regret)
    assert np.mean(regrets) == pytest.approx(published, abs=tolerance)


def test_synthetic_knapsack_needs_no_data_and_splits_in_time_order():
    loaded = load("synthetic-knapsack-60", days=100)
    assert (len(loaded.train), len(loaded.validation), len(loaded.test)) == (70, 8, 22)
    assert loaded.problem.sense == "max"
    assert loaded.problem.model.row_upper.tolist() == [60.0]


def test_generic_engine_gives_the_same_optimal_values():
    special = load("synthetic-knapsack-120", days=20)
    generic = load("synthetic-knapsack-120", days=20, engine="highs", workers=2)
    value = (special.train.costs * special.train.solutions).sum(1)
    torch.testing.assert_close((generic.train.costs * generic.train.solutions).sum(1), value, rtol=1e-9, atol=0)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("synthetic-knapsack-60", {"split": "paper"}, "'chronological' only"),
        ("synthetic-knapsack-60", {"days": 5}, "at least 20"),
    ],
)
def test_bad_options_are_named(name, options, message):
    with pytest.raises(InputError, match=message):
        load(name, **options)
