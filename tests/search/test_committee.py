from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from regretless import SolutionCache
from regretless.errors import InputError
from regretless.search.committee import (
    Committee,
    best_members,
    held_out_average,
    look_up_regrets,
    merge,
    ranked,
    scaled,
    streams_of,
    weighted,
)
from regretless.search.scores import HeldOut
from regretless.training.folds import make_folds, rest_of
from regretless.training.models import SharedLinear, make_model
from tests.training.stacks import data, run

CHANCE = torch.Generator().manual_seed(0)
X2, X3 = torch.randn(8, 3, generator=CHANCE), torch.randn(8, 5, 3, generator=CHANCE)
COSTS = torch.randn(8, 5, dtype=torch.float64, generator=CHANCE) * 30 + 9
WEIGHTS = torch.tensor([0.2, 0.3, 1.5])


@pytest.mark.parametrize(
    ("make", "x"),
    [
        (lambda seed: make_model(X2, 5, costs=COSTS, seed=seed), X2),
        (lambda seed: make_model(X3, 5, costs=COSTS, seed=seed), X3),
        (lambda seed: make_model(X2, 5, seed=seed), X2),
        (lambda seed: SharedLinear(3), X3),
        (lambda seed: nn.Linear(3, 5, bias=False), X2),
    ],
)
def test_a_committee_of_linear_models_is_one_linear_model(make, x):
    members = [make(seed) for seed in range(3)]
    merged = merge(members, WEIGHTS)
    assert type(merged) is type(members[0])
    expected = sum(w * member(x) for w, member in zip(WEIGHTS, members, strict=True))
    torch.testing.assert_close(merged(x), expected, rtol=1e-4, atol=1e-4)


def test_a_committee_of_other_models_averages_their_predictions_and_can_be_saved():
    members = [make_model(X2, 5, kind="mlp", seed=seed) for seed in range(3)]
    merged = merge(members, WEIGHTS)
    assert isinstance(merged, Committee)
    torch.testing.assert_close(merged(X2), sum(w * m(X2) for w, m in zip(WEIGHTS, members, strict=True)))
    blank = Committee([make_model(X2, 5, kind="mlp", seed=9) for _ in range(3)], torch.ones(3))
    blank.load_state_dict(merged.state_dict())
    torch.testing.assert_close(blank(X2), merged(X2))


def test_one_member_of_weight_one_is_itself_and_of_another_weight_is_scaled():
    (member,) = members = [make_model(X2, 5, kind="mlp")]
    assert merge(members, torch.ones(1)) is member
    for kind in ("mlp", "linear"):
        member = make_model(X2, 5, kind=kind)
        torch.testing.assert_close(merge([member], torch.tensor([2.0]))(X2), 2 * member(X2))


def test_a_committee_needs_one_weight_per_member():
    with pytest.raises(InputError, match="one weight per member, got 2 and 1"):
        Committee([nn.Linear(1, 1)], torch.ones(2))


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
