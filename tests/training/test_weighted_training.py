"""Weights of instances: with integers, training equals that on repeated instances, wherever order does not matter."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from regretless import Dataset, Problem, SolutionCache, evaluate, fit, neighbor_labels, train
from regretless.errors import InputError
from regretless.losses import MAP, NCE, SPOPlus, TwoStage
from regretless.training.callbacks import TrainingState
from regretless.training.checkpoint import digest_of
from regretless.training.folds import make_folds
from regretless.training.history import History
from regretless.training.ridge import ridge
from regretless.training.stacked_fit import fit_stacked
from regretless.training.stacked_models import Setting
from regretless.training.two_stage import HeldOutError

from .stacks import cache, data

WEIGHT = torch.tensor([1.0, 2.0, 3.0] * 10, dtype=torch.float64)


def weighted(n: int = 30, *, family: bool = False) -> tuple[Problem, Dataset, Dataset]:
    """A problem, its data with weights, and the same data with repeated instances."""
    problem, plain = data(n, family=family)
    counts = WEIGHT[:n]
    return problem, replace(plain, weight=counts), plain[torch.arange(n).repeat_interleave(counts.to(torch.int64))]


def linear() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(3, 6).to(torch.float64)


LOSSES = {
    "spo": lambda problem, some: SPOPlus(problem),
    "sum": lambda problem, some: SPOPlus(problem, reduction="sum"),
    "nce": lambda problem, some: NCE(SolutionCache(problem, some.solutions, instance=some.instance, p_solve=0.0)),
    "map": lambda problem, some: MAP(SolutionCache(problem, some.solutions, instance=some.instance, p_solve=0.0)),
    "two-stage": lambda problem, some: TwoStage(),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("family", [False, True])
def test_a_fit_over_whole_batches_equals_that_on_repeated_instances(name, family):
    problem, counted, repeated = weighted(family=family)
    losses, models = [], []
    for some in (counted, repeated):
        model = linear()
        fitted = fit(model, LOSSES[name](problem, some), some, epochs=3, batch_size=len(some), progress=False)
        losses.append(fitted.history.column("loss"))
        models.append(model)
    torch.testing.assert_close(models[0].weight, models[1].weight)
    assert not torch.equal(models[0].weight, linear().weight)
    if name != "sum":  # the history has the mean over instances, of which there are fewer
        assert losses[0] == pytest.approx(losses[1])


def test_weights_count_relative_to_each_other_only():
    problem, counted, _ = weighted()
    found = []
    for factor in (1.0, 100.0):
        model = linear()
        some = replace(counted, weight=factor * counted.weight)
        fit(model, SPOPlus(problem), some, epochs=2, batch_size=7, progress=False)
        found.append(model.weight.detach())
    torch.testing.assert_close(*found)


def test_equal_weights_change_nothing():
    problem, plain = data()
    found = []
    for some in (plain, replace(plain, weight=torch.full((30,), 4.0))):
        model = linear()
        fit(model, SPOPlus(problem), some, epochs=2, progress=False)
        found.append(model.weight.detach())
    assert torch.equal(*found)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_ridge_with_weights_is_that_of_repeated_rows(shared, bias):
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(30, 6, 2, generator=generator, dtype=torch.float64) if shared else torch.randn(30, 3) + 1.0
    c = torch.randn(30, 6, generator=generator, dtype=torch.float64)
    times = torch.arange(30).repeat_interleave(WEIGHT.to(torch.int64))
    # The copies of a row are in the same fold as the row.
    folds = make_folds(30, 5)
    copies = [torch.isin(times, fold).nonzero().flatten() for fold in folds]
    for intercepts in {False, shared and bias}:
        for given, other in (([], []), (folds, copies)):
            one = ridge(x, c, bias=bias, folds=given, intercepts=intercepts, weight=WEIGHT)
            two = ridge(x[times], c[times], bias=bias, folds=other, intercepts=intercepts)
            torch.testing.assert_close(one[0], two[0])
            if bias:
                torch.testing.assert_close(one[1], two[1])


def test_the_held_out_error_of_a_two_stage_fit_is_weighted():
    _, counted, repeated = weighted()
    rows = []
    for some in (counted, repeated):
        state = TrainingState(linear(), torch.optim.SGD(linear().parameters()), 0, {}, History([]))
        HeldOutError(some, "mse").on_epoch(state)
        rows.append(state.row["held_out_error"])
    assert rows[0] == pytest.approx(rows[1])


def test_direct_search_minimizes_the_weighted_regret():
    pytest.importorskip("cma", reason="direct search needs the package cma")
    problem, counted, repeated = weighted(9)
    rows = [
        train(problem, some, linear(), method="direct", generations=3, progress=False).history.column("loss")
        for some in (counted, repeated)
    ]
    assert rows[0] == pytest.approx(rows[1])


def test_stacked_runs_over_whole_batches_equal_those_on_repeated_instances():
    problem, counted, repeated = weighted()
    torch.manual_seed(0)  # a model that is not linear: the steps of linear ones are in units of unweighted deviations
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 6)).to(torch.float64)
    found = []
    for some in (counted, repeated):
        shared = cache(problem, some)
        losses = [MAP(shared, reduction="none"), SPOPlus(shared, reduction="none")]
        stack = fit_stacked(
            [model], losses, [Setting(0, 0.03), Setting(1, 0.1)], some, [torch.arange(len(some))],
            epochs=3, batch_size=len(some), progress=False,
        )  # fmt: skip
        found.append(stack.models.predict_with(stack.snapshots[3], 0)[:, :1])
    assert found[0].shape == (2, 1, 6)
    torch.testing.assert_close(*found)


def test_evaluation_has_weighted_means():
    problem, counted, repeated = weighted()
    model = linear()
    one, two = (evaluate(model, some, problem) for some in (counted, repeated))
    for name in ("regret", "relative_regret", "mse"):
        assert getattr(one, name) == pytest.approx(getattr(two, name))
    assert one.regret != pytest.approx(evaluate(model, replace(counted, weight=None), problem).regret)


def test_weights_follow_their_instances():
    problem, counted, _ = weighted()
    assert torch.equal(counted[[4, 2]].weight, WEIGHT[[4, 2]])
    assert "with weights" in repr(counted)
    near = neighbor_labels(problem, counted, neighbors=2, progress=False)
    assert torch.equal(near.weight, WEIGHT.repeat_interleave(2))
    solved = Dataset.solve(problem, counted.features, counted.costs, weight=WEIGHT.tolist(), progress=False)
    assert torch.equal(solved.weight, WEIGHT)
    assert digest_of(counted) != digest_of(replace(counted, weight=None))
    with pytest.raises(InputError, match=r"weight must have shape \(30,\)"):
        replace(counted, weight=WEIGHT[:3])


def test_a_loader_of_batches_with_weights_is_refused():
    problem, counted, _ = weighted()
    with pytest.raises(InputError, match=r"batch 0 of the loader has weights.*WeightedRandomSampler"):
        fit(linear(), SPOPlus(problem), [counted[:5]], epochs=1, progress=False)
