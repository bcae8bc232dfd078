from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from regretless import SolutionCache
from regretless.search.scores import HeldOut
from regretless.search.selection import (
    best_members,
    held_out_average,
    look_up_regrets,
    ranked,
    scaled,
    streams_of,
    weighted,
)
from regretless.training.folds import make_folds, rest_of
from tests.training.stacks import data, run

PROBLEM, DATA = data()
FOLDS = make_folds(len(DATA), 2)
STREAMS = [*(rest_of(len(DATA), part) for part in FOLDS), torch.arange(len(DATA))]


@pytest.fixture(scope="module")
def held_out():
    return HeldOut(SolutionCache(PROBLEM, DATA.solutions, p_solve=0.0), DATA, FOLDS)


def runs(kind="linear"):
    return run(PROBLEM, DATA, kind=kind, streams=STREAMS, snapshots=[1, 3])


def predictions(found, member, parts=FOLDS):
    """Held-out predictions of one member, by its exported models."""
    epoch, s = member
    predicted = torch.zeros_like(DATA.costs)
    with torch.no_grad():
        for f, part in enumerate(parts):
            predicted[part] = found.models.export(found.snapshots[epoch], f, s)(DATA.features[part]).double()
    return predicted


def test_settings_are_ranked_by_the_regret_of_their_held_out_predictions(held_out):
    found = runs()
    order = ranked(look_up_regrets(found, held_out))
    assert len(order) == 2 * 3
    assert [regret for _, regret in order] == sorted(regret for _, regret in order)
    for member, regret in order:
        assert regret == pytest.approx(float(held_out.regrets(predictions(found, member)).mean()), rel=1e-4)


def test_a_setting_that_diverged_on_any_stream_is_the_last_and_no_member(held_out):
    found = runs()
    found.diverged[1, 2] = True
    order = ranked(look_up_regrets(found, held_out))
    assert {member for member, regret in order if math.isinf(regret)} == {(1, 2), (3, 2)}
    assert {member for member, _ in order[-2:]} == {(1, 2), (3, 2)}
    assert not {(1, 2), (3, 2)} & set(best_members(order, 99))


def test_the_best_third_or_the_given_number_are_members():
    order = [((1, s), float(s)) for s in range(9)]
    assert best_members(order, None) == [(1, 0), (1, 1), (1, 2)]
    assert best_members(order, 1) == [(1, 0)]
    assert best_members(order[:1], None) == [(1, 0)]
    assert best_members(order[:2], None) == [(1, 0)]
    assert best_members(order[:1] + [((1, s), math.inf) for s in range(1, 6)], None) == [(1, 0)]
    assert best_members([((1, 0), math.inf)], None) == []


@pytest.mark.parametrize("scale_free", [False, True])
def test_members_of_all_snapshots_have_equal_shares_of_the_average(held_out, scale_free):
    found, members = runs(), [(3, 0), (1, 2), (3, 1)]
    regrets = {member: torch.ones(len(DATA)) for member in members}
    mean = torch.stack([scaled(predictions(found, member), scale_free) for member in members]).mean(dim=0)
    average = held_out_average(regrets, 3, found, held_out, scale_free)
    torch.testing.assert_close(average, mean, rtol=1e-4, atol=1e-4)


def test_the_members_that_predict_a_fold_are_chosen_on_the_other_folds(held_out):
    found, regrets = runs(), {(3, 0): torch.zeros(len(DATA)), (1, 2): torch.zeros(len(DATA))}
    regrets[3, 0][FOLDS[0]] = 9.0  # the better one on the second fold, so that it predicts the first
    regrets[1, 2][FOLDS[1]] = 9.0
    average = held_out_average(regrets, 1, found, held_out, scale_free=False)
    for fold, member in zip(FOLDS, [(3, 0), (1, 2)], strict=True):
        torch.testing.assert_close(average[fold], predictions(found, member)[fold], rtol=1e-4, atol=1e-4)


def test_predictions_are_scaled_to_deviation_one_unless_they_are_constant():
    predicted = torch.tensor([[1.0, 5.0], [2.0, 8.0]])
    assert float(scaled(predicted, True).std(correction=0)) == pytest.approx(1.0)
    assert torch.equal(scaled(predicted, False), predicted)
    assert torch.equal(scaled(torch.ones(2, 2), True), torch.ones(2, 2))


def test_models_of_the_folds_take_part_where_several_linear_models_are_averaged():
    assert list(streams_of([(1, 0), (1, 1)], runs())) == [0, 1, 2]
    assert list(streams_of([(1, 0)], runs())) == [2]
    assert list(streams_of([(1, 0), (1, 1)], runs("mlp"))) == [2]


def test_weights_give_each_model_the_deviation_of_the_costs_and_an_equal_share():
    found, members = runs(), [(1, 0), (3, 2)]
    models, weights = weighted(members, found, DATA, [0, 2], scale_free=True)
    assert len(models) == len(weights) == 4
    spread = float(DATA.costs.std(correction=0))
    with torch.no_grad():
        for model, weight in zip(models, weights, strict=True):
            deviation = float((weight * model(DATA.features).double()).std(correction=0))
            assert deviation == pytest.approx(spread / 4, rel=1e-5)
    assert weighted(members, found, DATA, [2], scale_free=False)[1].tolist() == [0.5, 0.5]


def test_constant_predictions_and_constant_costs_have_finite_weights():
    found, members = runs(), [(1, 0), (3, 2)]
    for value in found.snapshots[3].values():
        value.zero_()
    models, weights = weighted(members, found, DATA, [2], scale_free=True)
    with torch.no_grad():
        assert not models[1](DATA.features).any()
    assert (weights[0] != 0.5, weights[1]) == (True, 0.5)
    constant = replace(DATA, costs=torch.full_like(DATA.costs, 7.0))
    models, weights = weighted(members, runs(), constant, [2], scale_free=True)
    with torch.no_grad():
        for model, weight in zip(models, weights, strict=True):
            assert float((weight * model(DATA.features).double()).std(correction=0)) == pytest.approx(0.5, rel=1e-5)
