from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses import Listwise, Loss, Pairwise, PairwiseDifference, Pointwise

from .tiny import KINDS, Batch, batch, cache, members, value_and_gradient

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
MARGIN = 0.4


def pointwise(predicted: Tensor, true: Tensor) -> Tensor:
    return (predicted - true).square().mean()


def pairwise(predicted: Tensor, true: Tensor) -> Tensor:
    first = int(true.argmin())
    total = predicted.new_zeros(())
    for k in range(len(true)):
        if true[k] > true[first]:
            total = total + max(predicted[first] - predicted[k] + MARGIN, predicted.new_zeros(()))
    return total / len(true)


def pairwise_difference(predicted: Tensor, true: Tensor) -> Tensor:
    first = int(true.argmin())
    leads = [(predicted[first] - predicted[k]) - (true[first] - true[k]) for k in range(len(true))]
    return torch.stack(leads).square().mean()


def listwise(predicted: Tensor, true: Tensor) -> Tensor:
    t = 0.1 * true.std(correction=0) if len(true) > 1 else 0.1
    target = torch.exp(-true / t) / torch.exp(-true / t).sum()
    found = torch.exp(-predicted / t) / torch.exp(-predicted / t).sum()
    return -(target * torch.log(found)).sum()


LOSSES = {
    "pointwise": (Pointwise, pointwise),
    "pairwise": (lambda oracle, **o: Pairwise(oracle, margin=MARGIN, **o), pairwise),
    "pairwise-difference": (PairwiseDifference, pairwise_difference),
    "listwise": (Listwise, listwise),
}
EVERY_LOSS = pytest.mark.parametrize("name", LOSSES)


def built(name: str, kind, b: Batch, **settings) -> Loss:
    return LOSSES[name][0](cache(kind.problem(), b), reduction="none", **settings)


@EVERY_LOSS
@EVERY_KIND
def test_value_and_gradient_are_the_definition_over_the_feasible_members(name, kind):
    kind = KINDS[kind]
    for seed in range(3):
        b = batch(kind, seed=seed)
        values, gradient = value_and_gradient(built(name, kind, b), b)
        true = kind.to_minimization(b.true)
        for i in range(len(values)):
            s, predicted = members(kind, b, i), b.predicted[i].clone().requires_grad_()
            value = LOSSES[name][1](s @ kind.to_minimization(predicted[None])[0], s @ true[i])
            slope = torch.zeros_like(predicted)
            if value.requires_grad:
                (slope,) = torch.autograd.grad(value, predicted)
            assert torch.allclose(values[i], value)
            assert torch.allclose(gradient[i], slope)


def test_the_gradient_of_pointwise_is_the_mean_error_times_the_solution():
    kind = KINDS["plain"]
    b = batch(kind, seed=4)
    _, gradient = value_and_gradient(built("pointwise", kind, b), b)
    s = members(kind, b, 0)
    assert torch.allclose(gradient, 2 * ((b.predicted - b.true) @ s.T) @ s / len(s))


def test_the_gradient_of_listwise_is_the_difference_of_the_expected_solutions():
    kind = KINDS["plain"]
    b = batch(kind, seed=4)
    _, gradient = value_and_gradient(built("listwise", kind, b), b)
    s = members(kind, b, 0)
    scores = b.true @ s.T
    t = 0.1 * scores.std(dim=1, correction=0, keepdim=True)
    target, found = torch.softmax(-scores / t, dim=1), torch.softmax(-(b.predicted @ s.T) / t, dim=1)
    assert torch.allclose(gradient, (target - found) @ s / t)


@EVERY_LOSS
def test_true_costs_have_the_lowest_loss(name):
    kind = KINDS["family"]
    b = batch(kind, seed=5)
    at_truth = Batch(b.true, b.true, b.solution, b.instance, b.cached, b.cached_for)
    loss = LOSSES[name][0](cache(kind.problem(), b), reduction="none")
    lowest, gradient = value_and_gradient(loss, at_truth)
    values, _ = value_and_gradient(loss, b)
    assert (values >= lowest - 1e-12).all()
    if name != "pairwise":  # the margin pushes on
        assert gradient.abs().max() < 1e-9


def test_pairwise_is_blind_to_pairs_in_order():
    kind = KINDS["plain"]
    b = batch(kind, seed=6)
    right = Batch(3 * b.true, b.true, b.solution, None, b.cached, None)
    values, gradient = value_and_gradient(Pairwise(cache(kind.problem(), b), reduction="none"), right)
    assert (values == 0).all()
    assert (gradient == 0).all()


def test_a_solution_as_good_as_the_best_need_not_trail_it():
    kind = KINDS["plain"]
    true = torch.tensor([[-1.0, -1.0, 0.0, 0.0]], dtype=torch.float64)
    two = torch.tensor([[1.0, 0, 0, 0], [0, 1.0, 0, 0]], dtype=torch.float64)
    memory = SolutionCache(kind.problem(), two, p_solve=0.0, dtype=torch.float64)
    predicted = torch.tensor([[0.0, -9.0, 0.0, 0.0]], dtype=torch.float64)
    assert float(Pairwise(memory, margin=1.0)(predicted, true, two[:1])) == 0.0


@pytest.mark.parametrize("name", ["pairwise", "pairwise-difference", "listwise"])
def test_a_shift_of_all_scores_changes_nothing_where_only_the_order_counts(name):
    kind = KINDS["plain"]
    pairs = torch.tensor([[1.0, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=torch.float64)
    b = batch(kind, seed=7)
    memory = SolutionCache(kind.problem(), pairs, p_solve=0.0, dtype=torch.float64)
    loss = LOSSES[name][0](memory, reduction="none")
    # Every member has two items: a constant on each item is a constant on each score.
    assert torch.allclose(loss(b.predicted + 5.0, b.true, b.solution), loss(b.predicted, b.true, b.solution))


def test_listwise_does_not_depend_on_the_scale_of_the_costs():
    kind = KINDS["mapped"]
    b = batch(kind, seed=8)
    loss = built("listwise", kind, b)
    value, _ = value_and_gradient(loss, b)
    large, _ = value_and_gradient(
        loss, Batch(1e4 * b.predicted, 1e4 * b.true, b.solution, None, b.cached, b.cached_for)
    )
    assert torch.allclose(value, large)


def test_the_target_of_listwise_is_not_one_hot_whatever_the_units():
    kind = KINDS["plain"]
    b = batch(kind, seed=8)
    large = Batch(1e4 * b.predicted, 1e4 * b.true, b.solution, None, b.cached, None)
    lowest = Listwise(cache(kind.problem(), b), temperature=0.5)(large.true, large.true, large.solution)
    assert lowest > 0.1  # the entropy of the target


@EVERY_LOSS
def test_a_solution_that_is_infeasible_for_the_instance_has_no_influence(name):
    kind = KINDS["family"]
    b = batch(kind, seed=5)
    small = (b.instance == 0).nonzero().flatten()
    one = Batch(b.predicted[small], b.true[small], b.solution[small], b.instance[small], b.cached, b.cached_for)
    memory = cache(kind.problem(), b)
    loss = LOSSES[name][0](memory, reduction="none")
    before = value_and_gradient(loss, one)
    assert memory.add(torch.tensor([[0.0, 1.0, 1.0, 0.0]], dtype=torch.float64), instance=[2]) == 1
    after = value_and_gradient(loss, one)
    assert all(torch.equal(x, y) for x, y in zip(before, after, strict=True))


@EVERY_LOSS
@pytest.mark.parametrize("predicted", [0.0, 0.3])
def test_predictions_that_are_all_equal_have_a_finite_gradient(name, predicted):
    kind = KINDS["plain"]
    b = batch(kind, seed=9)
    flat = Batch(torch.full_like(b.predicted, predicted), b.true, b.solution, None, b.cached, None)
    values, gradient = value_and_gradient(built(name, kind, b), flat)
    assert torch.isfinite(values).all()
    assert torch.isfinite(gradient).all()
    assert gradient.abs().max() > 0


@EVERY_LOSS
def test_a_cache_of_one_has_nothing_to_order(name):
    kind = KINDS["plain"]
    b = batch(kind, seed=9)
    memory = SolutionCache(kind.problem(), b.solution[:1], p_solve=0.0, dtype=torch.float64)
    values, gradient = value_and_gradient(LOSSES[name][0](memory, reduction="none"), b)
    if name != "pointwise":
        assert values.abs().max() < 1e-12
        assert (gradient == 0).all()
    assert torch.isfinite(values).all()


def test_settings_and_oracles_that_make_no_sense_are_named():
    kind = KINDS["plain"]
    memory = cache(kind.problem(), batch(kind))
    for margin in (-0.1, math.nan, math.inf):
        with pytest.raises(InputError, match=f"margin must be a finite number, at least 0, got {margin}"):
            Pairwise(memory, margin=margin)
    for temperature in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match=f"temperature must be a finite number above 0, got {temperature}"):
            Listwise(memory, temperature=temperature)
    for loss in (Pointwise, Pairwise, PairwiseDifference, Listwise):
        with pytest.raises(InputError, match="needs a SolutionCache, got Problem"):
            loss(kind.problem())


@EVERY_LOSS
def test_an_empty_cache_and_missing_ids_are_named(name):
    kind = KINDS["family"]
    b = batch(kind)
    with pytest.raises(InputError, match="the cache is empty"):
        LOSSES[name][0](SolutionCache(kind.problem(), p_solve=0.0))(b.predicted, b.true, b.solution, b.instance)
    with pytest.raises(InputError, match="family of 3 instances: pass instance="):
        built(name, kind, b)(b.predicted, b.true, b.solution)
