"""Hourly electricity prices from a formula, with forecasts as features.

Wind and sun lower the price at any time, in proportion. Load raises it only beyond a threshold, where expensive plants
start, and then steeply. A linear model cannot follow both. Least squares fits the few expensive hours; a schedule
depends on the order of the cheap ones.
"""

from __future__ import annotations

import numpy as np

from regretless.milp import Floats
from regretless.number_checks import check_integer, check_number
from regretless.problems.autoregression import wander
from regretless.problems.workshop.formulation import HOURS

FEATURE_NAMES = ("load forecast", "wind forecast", "solar forecast", "weekend")
MEAN, STEEP, CHEAP, THRESHOLD = 60.0, 50.0, 12.0, 1.0


def hourly_prices(days: int, *, noise: float = 1.0, seed: int = 0) -> tuple[Floats, Floats]:
    """Features ``(days, 24, 4)`` and prices ``(days, 24)``, in euros per megawatt-hour.

    ``price = 60 + 50 softplus(3 (load - 1)) - 12 (wind + sun) + noise``. The features are forecasts of load, wind and
    sun (with errors), and whether the day is on a weekend.

    Args:
        days: number of days, at least 1.
        noise: standard deviation of the price around the formula.
        seed: of all random numbers.

    >>> hourly_prices(2)[0].shape
    (2, 24, 4)
    """
    check_integer("days", days, least=1)
    check_number("noise", noise, least=0)
    generator = np.random.default_rng(seed)
    shape, day, hour = (days, HOURS), np.arange(days)[:, None], np.arange(HOURS, dtype=np.float64)[None, :]
    weekend = np.broadcast_to((day % 7 >= 5).astype(float), shape)
    peaks = 0.7 * _bump(hour, 9.0, 2.5) + 1.0 * _bump(hour, 18.5, 2.2) - 0.4 * _bump(hour, 3.0, 3.0)
    load = peaks - 0.4 * weekend + 0.3 * generator.standard_normal((days, 1)) + 0.7 * wander(generator, shape, 0.8)
    wind = 0.7 * generator.standard_normal((days, 1)) + 0.9 * wander(generator, shape, 0.9)
    sun = _bump(hour, 12.5, 2.6) * np.maximum(0.0, 1.2 + 0.72 * generator.standard_normal((days, 1)))
    tight = np.logaddexp(0.0, 3.0 * (load - THRESHOLD))
    price = MEAN + STEEP * tight - CHEAP * (wind + sun) + noise * generator.standard_normal(shape)
    forecasts = [series + 0.03 * generator.standard_normal(shape) for series in (load, wind, sun)]
    return np.stack([*forecasts, weekend], axis=2), price


def _bump(hour: Floats, at: float, width: float) -> Floats:
    return np.asarray(np.exp(-0.5 * ((hour - at) / width) ** 2))
