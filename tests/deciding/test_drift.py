from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from regretless.deciding.drift import FEWEST, feature_drift, holm, regret_drift


def test_a_higher_regret_is_found_and_named() -> None:
    chance = np.random.default_rng(0)
    before, after = chance.exponential(1.0, 60), chance.exponential(3.0, 60)
    found = regret_drift(before, after, what="the test data of training")
    assert found.found
    assert found.p_value == pytest.approx(stats.mannwhitneyu(after, before).pvalue)
    assert found.sentence.startswith("The regret has become higher (Mann-Whitney U, p ")
    assert "has become lower" in regret_drift(after, before, what="before").sentence


def test_where_medians_are_equal_the_means_decide_the_direction() -> None:
    rare, often = np.repeat([0.0, 1.0], [180, 20]), np.repeat([0.0, 1.0], [22, 18])
    higher, lower = regret_drift(rare, often, what="before"), regret_drift(often, rare, what="before")
    assert higher.sentence.startswith("The regret has become higher")
    assert "mean 0.45 against 0.1 on before" in higher.sentence
    assert lower.sentence.startswith("The regret has become lower")
    assert "mean 0.1 against 0.45 on before" in lower.sentence


def test_equal_regrets_are_no_drift() -> None:
    same = np.zeros(30)
    found = regret_drift(same, same, what="the first half of the log")
    assert not found.found
    assert found.sentence.startswith("No drift of the regret was found")


def test_false_alarms_are_as_rare_as_the_level_says() -> None:
    chance, alarms = np.random.default_rng(1), [0, 0]
    for _ in range(200):
        alarms[0] += regret_drift(chance.exponential(size=40), chance.exponential(size=40), what="x").found
        alarms[1] += feature_drift(chance.normal(size=(40, 5)), chance.normal(size=(40, 5)), "abcde", what="x").found
    assert alarms[0] <= 20  # 10 are expected; 20 or more happen once in 500 tries
    assert alarms[1] <= 20


def test_the_feature_that_has_changed_is_named() -> None:
    chance = np.random.default_rng(2)
    before, after = chance.normal(size=(200, 3)), chance.normal(size=(50, 3))
    after[:, 1] += 2.0
    found = feature_drift(before, after, ("cold", "wind", "sun"), what="the training data")
    assert found.changed == ("wind",)
    assert "1 of 3 features has changed: wind" in found.sentence
    assert found.p_value is not None
    assert found.p_value < 1e-4
    assert "Kolmogorov-Smirnov" in found.sentence
    assert "smallest p below 0.0001; compared with the training data" in found.sentence
    assert found.sentence.endswith("training data).")
    season = feature_drift(before, after, ("cold", "day:year_sin", "sun"), what="the training data")
    assert season.found
    assert "That is the time of the year, which differs" in season.sentence
    two = feature_drift(before, after[:, [1, 0, 1]], ("cold", "wind", "sun"), what="the training data")
    assert "2 of 3 features have changed: cold, sun" in two.sentence
    both = feature_drift(before, after[:, [1, 0, 1]], ("cold", "wind", "day:year_sin"), what="the training data")
    assert "time of the year" not in both.sentence
    none = feature_drift(before, after[:, [0, 0, 2]], ("cold", "wind", "sun"), what="the training data")
    assert none.sentence.startswith("No drift of the 3 features was found")
    assert "smallest p = 0." in none.sentence


def test_too_few_instances_are_not_tested() -> None:
    few, many = np.ones(FEWEST - 1), np.ones(50)
    for a, b in ((few, many), (many, few)):
        found = regret_drift(a, b, what="the test data of training")
        assert (found.p_value, found.found) == (None, False)
        assert f"cannot be tested: it takes 8 instances on each side, and there are {len(b)} to test" in found.sentence
    assert feature_drift(many[:, None], few[:, None], ("a",), what="x").p_value is None
    unknown = regret_drift(np.full(50, np.nan), many, what="x")
    assert unknown.p_value is None


def test_holm_is_between_no_correction_and_bonferroni() -> None:
    p = np.random.default_rng(3).random(20) * 0.1
    corrected = np.array(holm(p))
    assert (corrected >= p).all()
    assert (corrected <= np.minimum(1.0, 20 * p) + 1e-15).all()
    assert corrected.min() == pytest.approx(20 * p.min())
    assert (np.diff(corrected[np.argsort(p)]) >= 0).all()


def test_the_direction_is_that_of_the_median_where_a_few_large_regrets_move_the_mean() -> None:
    before, after = np.linspace(1.0, 2.0, 40), np.append(np.linspace(0.0, 0.5, 39), 1e6)
    assert regret_drift(before, after, what="before").sentence.startswith("The regret has become lower")
