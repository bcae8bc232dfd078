from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import SPOPlus, TwoStage
from regretless.problems.irish_market import FEATURE_NAMES, SLOTS
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.knapsack.synthetic import knapsack_data, prices, standardized, wander
from regretless.problems.settings import shared_linear
from regretless.training import evaluate, fit


def test_neighboring_slots_are_correlated_and_the_deviation_is_reached() -> None:
    series = wander(np.random.default_rng(0), (5000, 40), 0.8, 3.0)
    assert series.shape == (5000, 40)
    assert series[:, -1].std() == pytest.approx(3.0, rel=0.05)
    assert np.corrcoef(series[:, -2], series[:, -1])[0, 1] == pytest.approx(0.8, abs=0.03)
    assert abs(np.corrcoef(series[:-1, -1], series[1:, -1])[0, 1]) < 0.05, "days do not depend on each other"


def test_the_generator_decides() -> None:
    first, second, third = (wander(np.random.default_rng(seed), (3, 4), 0.5) for seed in (1, 1, 2))
    assert (first == second).all()
    assert (first != third).any()


@pytest.mark.parametrize("days", [1, 2, 40])
def test_shapes_values_and_finiteness(days):
    features, price = prices(days)
    assert features.shape == (days, SLOTS, len(FEATURE_NAMES)) == (days, 48, 8)
    assert price.shape == (days, 48)
    assert np.isfinite(features).all()
    assert np.isfinite(price).all()
    assert (price >= 0).all()
    features, values, weights = knapsack_data(days)
    assert values.shape == (days, 48)
    assert np.isfinite(values).all()
    assert (values >= 0).all()
    assert sorted(weights.tolist()) == [3] * 16 + [5] * 16 + [7] * 16
    assert np.isfinite(standardized(features, days)).all()


def test_the_seed_decides_everything():
    for first, second in zip(knapsack_data(20, seed=3), knapsack_data(20, seed=3), strict=True):
        assert (first == second).all()
    for first, second in zip(knapsack_data(20, seed=3), knapsack_data(20, seed=4), strict=True):
        assert (first != second).any()


def test_the_global_generator_is_left_alone():
    np.random.seed(0)
    before = np.random.get_state()[1].tolist()
    prices(5)
    assert np.random.get_state()[1].tolist() == before


def test_calendar_columns_are_a_calendar():
    features, _ = prices(400)
    column = {name: features[:, :, k] for k, name in enumerate(FEATURE_NAMES)}
    assert (column["HolidayFlag"][0] == 1).all()
    assert set(np.unique(column["HolidayFlag"])) == {0.0, 1.0}
    assert set(np.unique(column["DayOfWeek"])) == set(range(7))
    assert (column["DayOfWeek"][7:] == column["DayOfWeek"][:-7]).all()
    assert (column["Month"].min(), column["Month"].max()) == (1, 12)
    assert (column["WeekOfYear"].min(), column["WeekOfYear"].max()) == (1, 53)
    assert (column["ForecastWindProduction"] >= 0).all()


def test_prices_have_daily_and_weekly_shape_and_spikes():
    features, price = prices(364)
    by_slot = price.mean(axis=0)
    assert by_slot[34:40].mean() > 1.3 * by_slot[4:12].mean()  # the evening against the night
    weekend = features[:, 0, 1] >= 5
    assert price[weekend].mean() < price[~weekend].mean()
    assert price.max() > 4 * np.median(price)


def test_forecasts_inform_but_do_not_tell():
    features, price = prices(200)
    correlation = np.corrcoef(features[:, :, FEATURE_NAMES.index("SMPEA")].ravel(), price.ravel())[0, 1]
    assert 0.4 < correlation < 0.99


def test_days_are_a_prefix_of_no_other_length_but_have_the_same_calendar():
    short, long = prices(10)[0], prices(20)[0]
    assert (short[:, :, :4] == long[:10, :, :4]).all()


def test_values_are_price_times_weight_within_one():
    _, price = prices(15, seed=2)
    _, values, weights = knapsack_data(15, seed=2)
    assert (np.abs(values - price * weights) <= price + 1e-9).all()


def test_scaling_uses_only_the_days_that_training_sees():
    features, _ = prices(60)
    scaled = standardized(features, 40)
    seen = scaled[:40].reshape(-1, 8)
    assert np.allclose(seen.mean(axis=0), 0)
    assert np.allclose(seen.std(axis=0), 1)
    changed = features.copy()
    changed[40:] += 5.0
    assert (standardized(changed, 40)[:40] == scaled[:40]).all()


def test_a_column_that_never_changes_is_not_blown_up():
    features = np.full((50, 48, 1), 0.1)
    features[40:] = 0.2
    scaled = standardized(features, 40)
    assert np.allclose(scaled[:40], 0)
    assert np.allclose(scaled[40:], 0.1)


def test_days_must_be_there():
    with pytest.raises(InputError, match="days must be an integer, at least 1, got 0"):
        prices(0)


def test_converged_least_squares_has_clearly_more_regret_than_decision_focused_training():
    """The point of the data: a linear model is misspecified, and the two losses settle for different lines."""
    features, values, weights = knapsack_data(500)
    problem = knapsack_problem(weights, 60)
    scaled = torch.as_tensor(standardized(features, 350), dtype=torch.float32)
    data = Dataset.solve(problem, scaled, values)
    train, test = data[:350], data[350:]
    two_stage, spo = shared_linear(8)(0), shared_linear(8)(0)
    design = np.concatenate([train.features.reshape(-1, 8).numpy(), np.ones((350 * 48, 1))], axis=1)
    line, *_ = np.linalg.lstsq(design, train.costs.reshape(-1).numpy(), rcond=None)  # converged by construction
    with torch.no_grad():
        two_stage.linear.weight[0].copy_(torch.as_tensor(line[:-1]))
        two_stage.linear.bias.copy_(torch.as_tensor(line[-1:]))
    before = torch.cat([p.detach().flatten().clone() for p in two_stage.parameters()])
    fit(two_stage, TwoStage(problem), train, epochs=1, lr=1e-3)
    after = torch.cat([p.detach().flatten() for p in two_stage.parameters()])
    assert torch.allclose(before, after, atol=0.1), "nothing is left to learn for least squares"
    fit(spo, SPOPlus(problem), train, epochs=8, lr=0.5)
    least_squares, focused = evaluate(two_stage, test, problem), evaluate(spo, test, problem)
    assert focused.regret < 0.9 * least_squares.regret
    assert least_squares.mse < focused.mse
