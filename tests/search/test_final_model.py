from __future__ import annotations

import math

import pytest
import torch

from regretless import Dataset, Problem, predict
from regretless.problems import load
from regretless.search import auto, automatic, verdict
from regretless.search.candidates import Candidate
from regretless.training import two_stage
from regretless.training.models import make_model
from regretless.training.stacked_fit import fit_stacked

from .small_search import FEW, search


@pytest.fixture(scope="module")
def knapsack():
    return load("synthetic-knapsack-60", days=160)


def test_two_stage_is_kept_where_nothing_beats_it():
    generator = torch.Generator().manual_seed(0)
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=4)
    x = torch.randn(60, 2, generator=generator)
    data = Dataset.solve(problem, x, x @ torch.randn(2, 4, generator=generator))  # linear, without noise
    found = auto(problem, data, candidates=FEW, epochs=2, progress=False)
    assert found.chosen == "two-stage"
    assert found.model is found.two_stage
    assert not any(score.member for score in found.scores)
    assert found.verdict.two_stage == pytest.approx(0.0, abs=1e-6)


def test_a_gain_that_is_not_clear_gives_an_average_with_two_stage(knapsack, monkeypatch):
    alone = search(knapsack, fallback=False)
    monkeypatch.setattr(verdict, "FULL_WEIGHT", 2 * alone.verdict.gain / alone.verdict.error)
    found = search(knapsack)
    assert found.verdict.weight == pytest.approx(0.5)
    assert found.chosen == f"{alone.chosen} (50%) and two-stage (50%)"
    x = knapsack.test.features
    committee, two_stage, both = (predict(model, x) for model in (alone.model, alone.two_stage, found.model))
    torch.testing.assert_close(both, (committee + two_stage) / 2, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("weight", "words"), [(0.999, "(99%) and two-stage (1%)"), (1e-4, "(1%) and two-stage (99%)")])
def test_what_takes_part_is_not_said_to_have_no_share(knapsack, monkeypatch, weight, words):
    monkeypatch.setattr(verdict.Verdict, "weight", weight)
    assert search(knapsack).chosen.endswith(words)


def test_two_stage_is_one_more_member_of_a_committee_of_other_models(knapsack, monkeypatch):
    monkeypatch.setattr(two_stage, "EPOCHS", 10)
    monkeypatch.setattr(verdict.Verdict, "weight", 0.25)
    flat = Dataset(knapsack.train.features[:, 0], knapsack.train.costs, knapsack.train.solutions)
    model = make_model(flat.features, 48, costs=flat.costs, kind="mlp", hidden=4)
    found = auto(knapsack.problem, flat, model, candidates=FEW, epochs=1, committee=2, progress=False)
    assert [type(member) for member in found.model.members] == 3 * [type(model)]
    assert float(found.model.weights[-1]) == 0.75


def test_a_committee_of_one_is_the_best_single_setting(knapsack):
    found = search(knapsack, committee=1)
    assert [score.member for score in found.scores] == [True] + [False] * (len(found.scores) - 1)
    assert found.chosen == found.scores[0].name


def test_a_committee_of_linear_models_averages_those_of_the_folds_as_well(knapsack, monkeypatch):
    kept = []
    monkeypatch.setattr(
        automatic, "fit_stacked", lambda *args, **how: kept.append(fit_stacked(*args, **how)) or kept[0]
    )
    found, runs = search(knapsack, committee=2, fallback=False), kept[0]
    names = [candidate.name for candidate in FEW]
    members = [(score.epochs, names.index(score.name)) for score in found.scores if score.member]
    x, train = knapsack.test.features, knapsack.train
    expected = []
    for epochs, setting in members:
        for stream in range(automatic.FOLDS + 1):
            model = runs.models.export(runs.snapshots[epochs], stream, setting)
            unit = train.costs.std(correction=0) / predict(model, train.features).to(torch.float64).std(correction=0)
            expected.append(predict(model, x) * unit)
    assert len(expected) == 12
    torch.testing.assert_close(predict(found.model, x), torch.stack(expected).mean(dim=0).float(), rtol=1e-4, atol=1e-3)


def test_without_a_fallback_the_best_setting_is_kept_even_where_two_stage_is_better():
    generator = torch.Generator().manual_seed(0)
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=4)
    x = torch.randn(60, 2, generator=generator)
    data = Dataset.solve(problem, x, x @ torch.randn(2, 4, generator=generator))
    found = auto(problem, data, candidates=FEW, epochs=2, committee=1, fallback=False, progress=False)
    assert found.verdict.gain <= 0
    assert found.chosen == found.scores[0].name
    assert found.model is not found.two_stage


@pytest.mark.parametrize("fallback", [True, False])
def test_where_all_settings_diverge_two_stage_has_no_gain_over_itself(fallback):
    generator = torch.Generator().manual_seed(0)
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=3)
    x = torch.randn(40, 30, generator=generator)  # noise: predictions of zero have a smaller regret than two-stage
    data = Dataset.solve(problem, x, torch.randn(40, 3, generator=generator) - torch.tensor([1.0, 0.0, 0.0]))
    wild = [Candidate("map-dc", 1e38)]
    found = auto(problem, data, candidates=wild, epochs=2, fallback=fallback, progress=False)
    assert not any(math.isfinite(score.regret) for score in found.scores)
    assert found.chosen == "two-stage"
    assert found.verdict.gain == 0.0
    assert found.verdict.model == found.verdict.two_stage
