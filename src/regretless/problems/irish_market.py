"""Half-hourly prices of the Irish electricity market: the data of the knapsack and the energy experiments.

There are 789 days of 48 half-hours, in time order. The knapsack's file holds prices times item weights, the raw series
holds the prices themselves; the eight features are the same. ``locate`` verifies the checksum of a file, so its content
needs no further check.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regretless.downloads.fetch import locate
from regretless.errors import InputError
from regretless.milp import Floats

DAYS, SLOTS, FEATURES = 789, 48, 8
TRAIN_DAYS, VALIDATION_DAYS = 552, 60
SPLITS = ("paper", "chronological", "random")
FEATURE_NAMES = (
    "HolidayFlag", "DayOfWeek", "WeekOfYear", "Month",
    "ForecastWindProduction", "SystemLoadEA", "SMPEA", "CO2Intensity",
)  # fmt: skip
TARGET = "SMPEP2"
Days = NDArray[np.int64]


def knapsack_data() -> tuple[Floats, Floats, Floats]:
    """Features, values and weights of the knapsack's items.

    Returns:
        features ``(789, 48, 8)`` as published, not scaled; values ``(789, 48)``; weights ``(48,)``.

    Raises:
        FileError: ``Data.npz`` is missing or damaged.
    """
    features, costs, weights = _knapsack(locate("Data.npz"))
    return features.copy(), costs.copy(), weights.copy()


def energy_data() -> tuple[Floats, Floats]:
    """Features and prices of the energy experiments.

    A zero or NaN of CO2Intensity is a missing value and is interpolated linearly in time. Days with another missing
    value, and days that do not have 48 half-hours, are left out.

    Returns:
        features ``(789, 48, 8)``, not scaled; prices ``(789, 48)``.

    Raises:
        FileError: ``prices2013.dat`` is missing or damaged.
    """
    features, prices = _energy(locate("prices2013.dat"))
    return features.copy(), prices.copy()


def split_days(kind: str, *, seed: int = 0) -> tuple[Days, Days, Days]:
    """Split the days into training, validation and test days.

    ``paper``: leave out the days 552..611, shuffle the other 729 with seed 0, train on the first 552 of them, test on
    the last 177 (as in the published experiments; the 60 days left out are returned as validation days).
    ``chronological``: 552, 60 and 177 days in time order.
    ``random``: 70, 10 and 20 percent of the days, shuffled with ``seed``.

    Returns:
        Training, validation and test days, as indices into the 789 days.

    Raises:
        InputError: there is no such split.
    """
    days = np.arange(DAYS, dtype=np.int64)
    cut = TRAIN_DAYS + VALIDATION_DAYS
    if kind == "chronological":
        return days[:TRAIN_DAYS], days[TRAIN_DAYS:cut], days[cut:]
    if kind == "paper":
        kept = np.concatenate([days[:TRAIN_DAYS], days[cut:]])
        # The legacy generator is the one behind scikit-learn's shuffle(random_state=0).
        order = np.arange(len(kept))
        np.random.RandomState(0).shuffle(order)
        return kept[order[:TRAIN_DAYS]], days[TRAIN_DAYS:cut], kept[order[TRAIN_DAYS:]]
    if kind == "random":
        days = np.random.default_rng(seed).permutation(days)
        first, second = round(0.7 * DAYS), round(0.8 * DAYS)
        return days[:first], days[first:second], days[second:]
    raise InputError(f"split must be one of {', '.join(SPLITS)}, got {kind!r}")


def standardize(features: Floats) -> Floats:
    """Scale features ``(789, 48, 8)`` by the mean and standard deviation of the first 552 days in time order.

    The same days serve every split, as in the published experiments; no targets are used.
    """
    if features.ndim != 3 or len(features) < TRAIN_DAYS:
        raise InputError(f"features must have shape ({DAYS}, {SLOTS}, {FEATURES}), got {features.shape}")
    first = features[:TRAIN_DAYS].reshape(-1, features.shape[-1])
    return np.asarray((features - first.mean(axis=0)) / first.std(axis=0))


@cache
def _knapsack(path: Path) -> tuple[Floats, Floats, Floats]:
    with np.load(path, allow_pickle=False) as archive:
        x = np.concatenate([archive["X_1gtrain"], archive["X_1gtest"]]).astype(np.float64)
        y = np.concatenate([archive["y_train"], archive["y_test"]]).astype(np.float64)
        weights = archive["weights"].astype(np.float64)
    # Column 0 is the number of the day.
    return x[:, 1:].reshape(DAYS, SLOTS, FEATURES).copy(), y.reshape(DAYS, SLOTS), weights


@cache
def _energy(path: Path) -> tuple[Floats, Floats]:
    with path.open(encoding="utf-8") as file:
        names = file.readline().split()
        # The first two columns are quoted text: the time and the name of a holiday.
        table = np.loadtxt(file, quotechar='"', usecols=range(2, len(names)), unpack=True)
    column = dict(zip(names[2:], table, strict=True))
    carbon = column["CO2Intensity"]
    known = np.flatnonzero((carbon != 0.0) & np.isfinite(carbon))
    column["CO2Intensity"] = np.interp(np.arange(len(carbon)), known, carbon[known])
    values = np.stack([column[name] for name in (*FEATURE_NAMES, TARGET)], axis=1)
    date = np.stack([column[name] for name in ("Year", "Month", "Day")], axis=1)
    starts = np.flatnonzero((date[1:] != date[:-1]).any(axis=1)) + 1
    blocks = np.split(values, starts)
    days = np.stack([block for block in blocks if len(block) == SLOTS and np.isfinite(block).all()])
    return np.ascontiguousarray(days[..., :FEATURES]), np.ascontiguousarray(days[..., FEATURES])
