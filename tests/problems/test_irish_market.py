from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from regretless.errors import FileError, InputError
from regretless.problems.irish_market import energy_data, knapsack_data, split_days, standardize


def test_paper_split_is_the_shuffle_of_scikit_learn() -> None:
    shuffle = pytest.importorskip("sklearn.utils").shuffle
    kept = np.concatenate([np.arange(552), np.arange(612, 789)])
    expected = shuffle(kept, random_state=0)
    train, validation, test = split_days("paper")
    assert (np.concatenate([train, test]) == expected).all()
    assert len(train) == 552
    assert validation is not None
    assert validation.tolist() == list(range(552, 612))


@pytest.mark.parametrize(("kind", "sizes"), [("paper", (552, 60, 177)), ("chronological", (552, 60, 177)),
                                             ("random", (552, 79, 158))])  # fmt: skip
def test_a_split_uses_every_day_once(kind: str, sizes: tuple[int, ...]) -> None:
    parts = split_days(kind, seed=3)
    assert tuple(len(part) for part in parts if part is not None) == sizes
    assert sorted(np.concatenate([part for part in parts if part is not None])) == list(range(789))


def test_random_split_follows_its_seed_and_the_others_have_none() -> None:
    assert (split_days("random", seed=1)[0] == split_days("random", seed=1)[0]).all()
    assert (split_days("random", seed=1)[0] != split_days("random", seed=2)[0]).any()
    assert (split_days("paper", seed=1)[0] == split_days("paper", seed=2)[0]).all()


def test_a_split_leaves_the_global_generator_alone() -> None:
    np.random.seed(7)
    before = np.random.get_state()[1].copy()  # type: ignore[index, union-attr]
    split_days("paper")
    split_days("random")
    assert (np.random.get_state()[1] == before).all()  # type: ignore[index]


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(InputError, match="paper, chronological, random, got 'test'"):
        split_days("test")


def test_standardized_features_have_mean_0_and_deviation_1_on_the_first_552_days() -> None:
    x = standardize(np.random.default_rng(0).normal(3.0, 2.0, (789, 48, 8)))
    assert np.allclose(x[:552].mean(axis=(0, 1)), 0.0)
    assert np.allclose(x[:552].std(axis=(0, 1)), 1.0)
    with pytest.raises(InputError, match=r"\(789, 48, 8\), got \(5, 48, 8\)"):
        standardize(np.ones((5, 48, 8)))


def least_squares_mse(features: np.ndarray, costs: np.ndarray) -> tuple[float, float]:
    x = standardize(features)
    x = np.concatenate([x, np.ones((*x.shape[:2], 1))], axis=2)
    train, _, test = split_days("paper")
    weights, *_ = np.linalg.lstsq(x[train].reshape(-1, 9), costs[train].ravel(), rcond=None)
    return float(((x[test] @ weights - costs[test]) ** 2).mean()), float((costs[test] ** 2).mean())


@pytest.mark.data
def test_knapsack_data_gives_the_published_errors() -> None:
    features, costs, weights = knapsack_data()
    assert (features.shape, costs.shape, weights.shape) == ((789, 48, 8), (789, 48), (48,))
    assert set(weights) == {3.0, 5.0, 7.0}
    fitted, zero = least_squares_mse(features, costs)
    assert round(fitted) == 34094
    assert round(zero) == 150218


@pytest.mark.data
def test_energy_data_gives_the_published_errors_and_shares_the_features() -> None:
    features, prices = energy_data()
    assert (features.shape, prices.shape) == ((789, 48, 8), (789, 48))
    fitted, zero = least_squares_mse(features, prices)
    assert round(fitted, 1) == 767.6
    assert round(zero) == 5460
    assert (features == knapsack_data()[0]).all()


@pytest.mark.data
def test_what_is_returned_may_be_changed() -> None:
    knapsack_data()[1][:] = 0.0
    energy_data()[1][:] = 0.0
    assert knapsack_data()[1].any()
    assert energy_data()[1].any()


@pytest.mark.parametrize(("name", "read"), [("Data.npz", knapsack_data), ("prices2013.dat", energy_data)])
def test_a_damaged_file_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, read: Callable[[], object]
) -> None:
    monkeypatch.setenv("REGRETLESS_DATA", str(tmp_path))
    (tmp_path / name).write_bytes(b"damaged")
    with pytest.raises(FileError, match=rf"{name} has the wrong content: expected .* SHA-256"):
        read()
