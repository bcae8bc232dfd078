"""Synthetic half-hourly electricity prices, shaped like those of the Irish market, so that everything runs offline.

Prices follow the residual load (load minus wind) along a merit order that is flat, then steep, with spikes when supply
is tight. A linear model of the features cannot follow that curve: least squares fits the steep part and the spikes,
where the decision is clear anyway. Two-stage training therefore has more regret here, as on the real data.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regretless.milp import Floats
from regretless.number_checks import check_integer
from regretless.problems.irish_market import SLOTS


def wander(generator: np.random.Generator, shape: tuple[int, int], memory: float, scale: float = 1.0) -> Floats:
    """Slow deviations within a day: an autoregressive process ``(days, slots)`` with deviation ``scale`` in the end."""
    noise = generator.standard_normal(shape) * scale * np.sqrt(1 - memory**2)
    for i in range(1, shape[1]):
        noise[:, i] += memory * noise[:, i - 1]
    return np.asarray(noise)


def prices(days: int, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Make unscaled features ``(days, 48, 8)``, as in ``irish_market.FEATURE_NAMES``, and prices ``(days, 48)``.

    Day 0 is January 1.
    """
    check_integer("days", days, least=1)
    generator = np.random.default_rng(seed)
    day, slot = np.arange(days)[:, None], np.arange(SLOTS)[None, :]
    weekday = (day + 5) % 7
    year = 2 * np.pi * (day % 365) / 365.25
    holiday = np.isin(day % 365, (0, 75, 120, 210, 300, 358, 359)).astype(float)
    resting = np.maximum(weekday >= 5, holiday > 0)

    hour = slot / 2.0
    shape = 0.9 * _bump(hour, 12.0, 4.5) + 0.8 * _bump(hour, 18.0, 2.0) - 0.55 * _bump(hour, 4.0, 3.0)
    load = 3300 + 350 * np.cos(year) + 850 * shape - 330 * resting + 110 * generator.standard_normal((days, 1))
    load = load + wander(generator, (days, SLOTS), 0.9, 45.0)
    wind = 620 + 180 * np.cos(year - 0.3) + 430 * _weather(generator, days)
    wind = np.clip(wind + wander(generator, (days, SLOTS), 0.97, 60.0), 20.0, 1600.0)

    tight = (load - wind - 2700.0) / 650.0
    base = 46.0 + 9.0 * tight + 18.0 * np.logaddexp(0.0, 2.4 * (tight - 0.55))
    chance = 0.30 / (1.0 + np.exp(-3.5 * (tight - 1.5)))
    spike = (generator.random((days, SLOTS)) < chance) * generator.pareto(3.0, (days, SLOTS)) * 60.0
    price = np.maximum(base + np.minimum(spike, 300.0) + 4.0 * generator.standard_normal((days, SLOTS)), 0.0)

    wind_forecast = np.clip(wind * (1 + 0.10 * generator.standard_normal((days, 1))), 0.0, None)
    load_forecast = load + 60.0 * generator.standard_normal((days, SLOTS))
    ahead = base * np.exp(0.10 * generator.standard_normal((days, 1))) + 5.0 * generator.standard_normal((days, SLOTS))
    carbon = 430 + 55 * tight - 0.05 * wind + 18 * generator.standard_normal((days, SLOTS))

    week, month = (day % 365) // 7 + 1, (day % 365) // 30.5 + 1
    columns = (holiday, weekday, week, month, wind_forecast, load_forecast, ahead, carbon)
    return np.stack([np.broadcast_to(column, price.shape) for column in columns], axis=2, dtype=np.float64), price


def knapsack_data(days: int, *, seed: int = 0) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Features, values and weights of a knapsack over the slots, built like the data of the paper.

    Each slot has the weight 3, 5 or 7, and its value is price times weight, with noise: ``y = price (w + U(-1, 1))``.

    Returns:
        Features ``(days, 48, 8)``, values ``(days, 48)``, weights ``(48,)``.
    """
    features, price = prices(days, seed=seed)
    generator = np.random.default_rng([seed, 1])
    weights = generator.permutation(np.repeat([3, 5, 7], SLOTS // 3))
    values = price * (weights + generator.uniform(-1.0, 1.0, price.shape))
    return features, values, weights


def standardized(features: Floats, days: int) -> Floats:
    """Scale every feature by the mean and standard deviation of the first ``days`` days, the training days."""
    seen = features[:days].reshape(-1, features.shape[-1])
    mean, deviation = seen.mean(axis=0), seen.std(axis=0)
    # The deviation of a constant column is a rounding error, and no divisor.
    return np.asarray((features - mean) / np.where(deviation > 1e-12 * np.abs(mean), deviation, 1.0))


def _bump(hour: Floats, at: float, width: float) -> Floats:
    away = np.abs(hour - at)
    return np.asarray(np.exp(-0.5 * (np.minimum(away, 24 - away) / width) ** 2))


def _weather(generator: np.random.Generator, days: int) -> Floats:
    """Weather fronts: a first-order autoregressive process over the days."""
    level = generator.standard_normal(days)
    for i in range(1, days):
        level[i] = 0.6 * level[i - 1] + 0.8 * level[i]
    return level[:, None]
