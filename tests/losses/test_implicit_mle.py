from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError, RegretlessWarning
from regretless.losses import AdaptiveImplicitMLE, ImplicitMLE
from regretless.losses.task_loss import task_loss

from .tiny import KINDS, batch, best, cache, members, value_and_gradient

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
SETTINGS = {"sigma": 0.5, "samples": 4, "seed": 3, "reduction": "none"}


def by_definition(kind, b, costs, *, width, task, central):
    """Values and gradients of all instances, from the perturbed costs ``(K, batch, width)``."""
    p, c = kind.to_minimization(b.predicted), kind.to_minimization(b.true)
    d = kind.problem().dimension

    def mean(i, at):
        return torch.stack([best(members(kind, b, i), one) for one in at]).mean(0)

    values, slopes = [], []
    for i in range(len(p)):
        value, slope = task_loss(task, mean(i, costs[:, i])[None], c[i : i + 1], b.solution[i : i + 1], dimension=d)
        values.append(value[0])
        slopes.append(slope[0])
    lambda_ = width(p, torch.stack(slopes))
    gradients = []
    for i, slope in enumerate(slopes):
        ahead, back = costs[:, i] + lambda_ * slope, costs[:, i] - lambda_ * slope
        gradient = mean(i, ahead) - mean(i, back if central else costs[:, i])
        gradients.append(gradient[:d] / (2 * lambda_ if central else lambda_))
    return torch.stack(values), torch.stack(gradients)


@pytest.mark.parametrize("central", [False, True])
@pytest.mark.parametrize("task", ["regret", "squared", "absolute"])
@EVERY_KIND
def test_value_and_gradient_are_those_of_the_definition(kind, task, central):
    kind = KINDS[kind]
    b = batch(kind, seed=1)
    settings = SETTINGS | {"task": task, "central": central}
    loss = ImplicitMLE(cache(kind.problem(), b), lambda_=2.0, **settings)
    found = value_and_gradient(loss, b)
    costs = ImplicitMLE(kind.problem(), **settings).perturb(kind.to_minimization(b.predicted)).costs
    expected = by_definition(kind, b, costs, width=lambda p, d: 2.0, task=task, central=central)
    for mine, its in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, its)


@EVERY_KIND
def test_the_adaptive_width_follows_the_scale_of_the_costs(kind):
    kind = KINDS[kind]
    b = batch(kind, seed=2)
    loss = AdaptiveImplicitMLE(cache(kind.problem(), b), task="regret", **SETTINGS)
    found = value_and_gradient(loss, b)
    costs = AdaptiveImplicitMLE(kind.problem(), **SETTINGS).perturb(kind.to_minimization(b.predicted)).costs
    n = kind.problem().dimension  # known costs have no part in it

    def width(p, d):
        return float(p[:, :n].norm() / d[:, :n].norm())

    expected = by_definition(kind, b, costs, width=width, task="regret", central=False)
    for mine, its in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, its)


def test_alpha_rises_while_gradients_are_sparse_and_only_in_training():
    kind = KINDS["plain"]
    b = batch(kind, seed=2)
    loss = AdaptiveImplicitMLE(cache(kind.problem(), b), step=0.1, samples=2)
    for _ in range(3):
        value_and_gradient(loss, b)
    assert loss.diagnostics()["alpha"] == pytest.approx(1.3)
    loss.eval()
    value_and_gradient(loss, b)
    assert loss.diagnostics()["alpha"] == pytest.approx(1.3)
    loss.train()
    for _ in range(60):
        loss.adapt(torch.ones(2, 4))  # no entry is zero: the running mean approaches 1
    assert loss.diagnostics()["alpha"] >= 0.0


def test_without_a_slope_there_is_no_gradient():
    kind = KINDS["plain"]
    b = batch(kind, seed=2)
    loss = AdaptiveImplicitMLE(kind.problem(), sigma=1e-9, reduction="sum")
    value, gradient = loss.loss_and_gradient(b.true, b.true, b.solution)
    assert float(value) == 0.0
    assert gradient.abs().max() == 0.0


@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
def test_both_groups_of_solutions_come_from_one_coin(grow_at):
    kind = KINDS["plain"]
    b = batch(kind, seed=2)
    oracle = cache(kind.problem(), b, p_solve=0.5, grow_at=grow_at)
    ImplicitMLE(oracle, samples=3)(b.predicted, b.true, b.solution)
    heads = oracle.statistics.solves / (1 if grow_at == "predicted" else 6)
    assert oracle.statistics.asked == 6
    assert heads in range(1, 6)


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (ImplicitMLE, {"lambda_": 0.0}, "lambda_ must be a finite number above 0, got 0"),
        (AdaptiveImplicitMLE, {"step": -1.0}, "step must be a finite number, at least 0, got -1"),
        (ImplicitMLE, {"task": "x"}, "task must be one of"),
    ],
)
def test_settings_that_make_no_sense_are_named(make, settings, message):
    with pytest.raises(InputError, match=message):
        make(KINDS["plain"].problem(), **settings)


def test_predictions_that_are_all_zero_have_no_adaptive_width_and_are_warned_of():
    kind = KINDS["plain"]
    b = batch(kind)
    zero, loss = torch.zeros_like(b.predicted), AdaptiveImplicitMLE(kind.problem(), samples=2)
    with pytest.warns(RegretlessWarning, match=r"no gradient where all predicted costs of a batch are zero.*two-stage"):
        _, gradient = loss.loss_and_gradient(zero, b.true, b.solution)
    assert not gradient.any()
    _, moves = ImplicitMLE(kind.problem(), samples=2).loss_and_gradient(zero, b.true, b.solution)
    assert moves.any()
