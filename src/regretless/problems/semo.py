"""Half-hourly prices of the Irish electricity market: what the knapsack and the energy experiments predict.

789 days of 48 half-hours, in time order. The knapsack's file holds prices times item weights, the raw series holds the
prices themselves; the eight features are the same.
"""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.downloads.fetch import locate
from regretless.errors import FileError, InputError
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
        FileError: ``Data.npz`` is not there, damaged, or does not hold what it should.
    """
    features, costs, weights = _knapsack(locate("Data.npz"))
    return features.copy(), costs.copy(), weights.copy()


def energy_data() -> tuple[Floats, Floats]:
    """Features and prices of the energy experiments.

    A zero or NaN of CO2Intensity is a missing value and is interpolated linearly in time. Days with another value
    missing, and days that do not have 48 half-hours, are left out.

    Returns:
        features ``(789, 48, 8)``, not scaled; prices ``(789, 48)``.

    Raises:
        FileError: ``prices2013.dat`` is not there, damaged, or does not hold what it should.
    """
    features, prices = _energy(locate("prices2013.dat"))
    return features.copy(), prices.copy()


def split_days(kind: str, *, seed: int = 0) -> tuple[Days, Days | None, Days]:
    """Say which days train, validate and test.

    ``paper``: leave out the days 552..611, shuffle the other 729 with seed 0, train on the first 552 of them, test on
    the last 177 (what the published figures did; the 60 days left out are returned as validation).
    ``chronological``: 552, 60 and 177 days in time order.
    ``random``: 70, 10 and 20 per cent of the days, shuffled with ``seed``.

    Returns:
        train, validation and test days, as indices into the 789 days.

    Raises:
        InputError: there is no such split.
    """
    days = np.arange(DAYS, dtype=np.int64)
    cut = TRAIN_DAYS + VALIDATION_DAYS
    if kind == "chronological":
        return days[:TRAIN_DAYS], days[TRAIN_DAYS:cut], days[cut:]
    if kind == "paper":
        kept = np.concatenate([days[:TRAIN_DAYS], days[cut:]])
        # The legacy generator is what scikit-learn's shuffle(random_state=0) draws from.
        order = np.arange(len(kept))
        np.random.RandomState(0).shuffle(order)
        return kept[order[:TRAIN_DAYS]], days[TRAIN_DAYS:cut], kept[order[TRAIN_DAYS:]]
    if kind == "random":
        days = np.random.default_rng(seed).permutation(days)
        first, second = round(0.7 * DAYS), round(0.8 * DAYS)
        return days[:first], days[first:second], days[second:]
    raise InputError(f"split must be one of {', '.join(SPLITS)}, got {kind!r}")


def standardise(features: Floats) -> Floats:
    """Scale features ``(789, 48, 8)`` by the mean and deviation of the first 552 days in time order.

    The same days for every split: that is what the published experiments did, and the last days' targets play no part.
    """
    if features.ndim != 3 or len(features) < TRAIN_DAYS:
        raise InputError(f"features must have shape ({DAYS}, {SLOTS}, {FEATURES}), got {features.shape}")
    first = features[:TRAIN_DAYS].reshape(-1, features.shape[-1])
    return np.asarray((features - first.mean(axis=0)) / first.std(axis=0))


@cache
def _knapsack(path: Path) -> tuple[Floats, Floats, Floats]:
    expected = {"X_1gtrain": 2, "X_1gtest": 2, "y_train": 1, "y_test": 1, "weights": 1}
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays: dict[str, Any] = {name: np.asarray(archive[name], dtype=np.float64) for name in expected}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise FileError(f"{path} cannot be read as the knapsack's data: {error}") from error
    x = np.concatenate([arrays["X_1gtrain"], arrays["X_1gtest"]])
    y = np.concatenate([arrays["y_train"], arrays["y_test"]])
    shapes = (x.shape, y.shape, arrays["weights"].shape)
    if shapes != ((DAYS * SLOTS, FEATURES + 1), (DAYS * SLOTS,), (SLOTS,)):
        raise FileError(f"{path} must hold {DAYS} days of {SLOTS} rows and {SLOTS} weights, got shapes {shapes}")
    # Column 0 is the number of the day.
    return x[:, 1:].reshape(DAYS, SLOTS, FEATURES).copy(), y.reshape(DAYS, SLOTS), arrays["weights"]


@cache
def _energy(path: Path) -> tuple[Floats, Floats]:
    names, table = _series(path)
    column = {name: table[:, i] for i, name in enumerate(names)}
    carbon = column["CO2Intensity"]
    known = np.flatnonzero((carbon != 0.0) & np.isfinite(carbon))
    column["CO2Intensity"] = np.interp(np.arange(len(carbon)), known, carbon[known])
    values = np.stack([column[name] for name in (*FEATURE_NAMES, TARGET)], axis=1)
    date = np.stack([column[name] for name in ("Year", "Month", "Day")], axis=1)
    starts = np.flatnonzero(np.concatenate([[True], (date[1:] != date[:-1]).any(axis=1)]))
    blocks = np.split(values, starts[1:])
    good = [block for block in blocks if len(block) == SLOTS and np.isfinite(block).all()]
    if len(good) != DAYS:
        raise FileError(f"{path} must hold {DAYS} whole days, got {len(good)}")
    days = np.stack(good)
    return np.ascontiguousarray(days[..., :FEATURES]), np.ascontiguousarray(days[..., FEATURES])


def _series(path: Path) -> tuple[list[str], Floats]:
    """Names and values ``(rows, columns)`` of the numeric columns, which follow two quoted ones."""
    try:
        header, *lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise FileError(f"{path} cannot be read as a table of prices: {error}") from error
    names = header.split()[2:]
    missing = {*FEATURE_NAMES, TARGET, "Year", "Day"} - set(names)
    if missing:
        raise FileError(f"{path}: line 1 must name the columns, missing are {', '.join(sorted(missing))}")
    rows = [line.rsplit(maxsplit=len(names)) for line in lines]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names) + 1:
            raise FileError(f"{path}: line {number} must hold {len(names)} numbers after the holiday's name")
    try:
        return names, np.array([row[1:] for row in rows], dtype=np.float64).reshape(len(rows), len(names))
    except ValueError as error:
        raise FileError(f"{path} holds something that is no number: {error}") from error
