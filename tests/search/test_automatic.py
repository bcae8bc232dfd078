from __future__ import annotations

import inspect
import math
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regretless import MILP, Dataset, Family, Problem, begun_solves, evaluate, predict
from regretless.errors import FileError, InputError, RegretlessWarning
from regretless.problems import load
from regretless.search import auto, automatic, final_model, verdict
from regretless.search.automatic import sampled, search_identity
from regretless.search.candidates import Candidate
from regretless.training import stack_checkpoint, stacked_fit, two_stage
from regretless.training.linear_model import find_linear
from regretless.training.methods import method
from regretless.training.models import make_model
from tests import forked

from .small_search import FEW, search


@pytest.fixture(scope="module")
def knapsack():
    return load("synthetic-knapsack-60", days=160)


@pytest.fixture(scope="module")
def usual(knapsack):
    """A search that no test changes."""
    return search(knapsack)


def test_the_committee_beats_two_stage_where_the_model_is_wrong_about_the_costs(knapsack, usual):
    found = usual
    assert found.chosen.startswith("committee")
    assert found.verdict.pays
    mine, base = (evaluate(model, knapsack.test, knapsack.problem).regret for model in (found.model, found.two_stage))
    assert mine < base


def test_every_solve_is_counted_with_its_purpose(knapsack):
    def scoring():
        count = knapsack.problem.statistics.by_purpose.get("scoring")
        return 0 if count is None else count.solves

    before, scored = knapsack.problem.statistics.solves, scoring()
    found = search(knapsack, growth=0.5)
    assert scoring() - scored == found.solves["scoring"]
    assert sum(found.solves.values()) == knapsack.problem.statistics.solves - before
    assert found.solves["scoring"] == 2 * found.verdict.instances
    assert sum(row["solves"] for row in found.history) == found.solves["growth"]
    assert 0 < found.solves["growth"] < len(knapsack.train)


def test_no_more_instances_are_scored_than_scoring_allows(knapsack, monkeypatch):
    monkeypatch.setattr(verdict, "CLEAR", 1e9)  # every difference leaves a doubt
    found = search(knapsack, growth=0.0, scoring=0.5)
    assert found.verdict.instances == len(knapsack.train) // 2
    assert found.solves["scoring"] == 2 * found.verdict.instances


@pytest.mark.parametrize(("clear", "instances"), [(0.0, 50), (1e9, 112)])
def test_all_instances_are_scored_only_where_a_part_of_them_leaves_a_doubt(knapsack, monkeypatch, clear, instances):
    monkeypatch.setattr(verdict, "CLEAR", clear)
    assert len(knapsack.train) == 112
    found = search(knapsack)
    assert found.verdict.instances == instances
    assert found.solves["scoring"] == 2 * instances


def test_the_same_seed_gives_the_same_model_and_another_seed_another(knapsack, usual):
    searches = usual, search(knapsack, seed=np.int64(0)), search(knapsack, seed=1)
    a, b, c = (predict(found.model, knapsack.test.features) for found in searches)
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


def test_the_number_of_workers_changes_nothing():
    milp = MILP([[3.0, 4.0, 5.0, 2.0]], row_upper=7.0)
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(40, 2, generator=generator)
    c = (x @ torch.randn(2, 4, generator=generator)) ** 3
    found = []
    for workers in (1, 2):
        problem = Problem(milp, sense="max", workers=workers)
        result = auto(problem, Dataset.solve(problem, x, c), candidates=FEW, epochs=2, progress=False)
        found.append(predict(result.model, x))
    assert torch.equal(*found)


def test_families_are_searched_with_their_own_constraints():
    family = Family([MILP([[3.0, 4.0, 5.0]], row_upper=limit) for limit in (4.0, 7.0, 9.0)])
    problem = Problem(family, sense="max")
    generator = torch.Generator().manual_seed(2)
    x, ids = torch.randn(30, 2, generator=generator), torch.arange(30) % 3
    c = (x @ torch.randn(2, 3, generator=generator)) ** 3 + 2
    data = Dataset.solve(problem, x, c, instance=ids)
    found = auto(problem, data, candidates=FEW, epochs=2, progress=False)
    assert math.isfinite(found.verdict.model)


class Recurrent(nn.Module):
    """A GRU over the features of the slots of a day, which ``torch.func`` cannot batch."""

    def __init__(self) -> None:
        super().__init__()
        self.gru, self.head = nn.GRU(8, 3, batch_first=True), nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.gru(x)[0])[..., 0]


@pytest.mark.parametrize("kind", ["perceptron", "batch normalization", "recurrent"])
@pytest.mark.filterwarnings("ignore:copies of this Recurrent cannot be computed at once")
def test_any_module_can_be_searched(knapsack, monkeypatch, kind):
    monkeypatch.setattr(two_stage, "EPOCHS", 2)  # the start of the search need not be converged
    data = knapsack.train[:30]
    flat = Dataset(data.features.flatten(1), data.costs, data.solutions)
    made = {
        "perceptron": lambda: make_model(flat.features, 48, costs=flat.costs, kind="mlp", hidden=4),
        "batch normalization": lambda: nn.Sequential(nn.Linear(8 * 48, 4), nn.BatchNorm1d(4), nn.Linear(4, 48)),
        "recurrent": Recurrent,
    }
    given = data if kind == "recurrent" else flat
    found = auto(knapsack.problem, given, made[kind](), candidates=FEW[:2], epochs=2, fallback=False, progress=False)
    assert predict(found.model, given.features).shape == given.costs.shape
    assert found.model is not found.two_stage


def test_units_of_costs_do_not_change_the_decisions(knapsack, usual):
    data = knapsack.train
    plain = usual.model
    large = Dataset(data.features, 1000 * data.costs, data.solutions)
    scaled = auto(knapsack.problem, large, knapsack.model, candidates=FEW, epochs=4, progress=False).model
    a, b = (evaluate(model, knapsack.test, knapsack.problem).regret for model in (plain, scaled))
    assert a == pytest.approx(b, rel=0.02)


def test_a_limit_on_solves_is_kept_and_one_on_time_ends_training(knapsack):
    assert search(knapsack, max_solves=7, growth=2.0).solves["growth"] == 7
    assert "time limit" in search(knapsack, time_limit=1e-9).reason


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"folds": 90}, "needs at least 180 training instances"),
        ({"growth": -1.0}, "growth must be a finite number, at least 0"),
        ({"growth": math.nan}, "growth must be a finite number, at least 0"),
        ({"scoring": 1.5}, "scoring must be between 0 and 1"),
        ({"folds": 2.5}, "folds must be an integer, at least 2"),
        ({"epochs": 0}, "epochs must be an integer, at least 1"),
        ({"batch_size": 0}, "batch_size must be an integer, at least 1"),
        ({"committee": 0}, "committee must be an integer, at least 1"),
        ({"max_solves": -1}, "max_solves must be an integer, at least 0"),
        ({"time_limit": -1}, "time_limit must be a finite number, at least 0"),
        ({"ordered": "False"}, "ordered must be a bool, got str: true or false"),
        ({"fallback": 0}, "fallback must be a bool, got int: true or false"),
        ({"candidates": []}, "at least one method or candidate"),
        ({"model": "linear"}, "model must be a torch module"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_anything_is_solved(knapsack, settings, message):
    before = knapsack.problem.statistics.solves
    given = {"model": knapsack.model, "candidates": FEW, "epochs": 4, "progress": False} | settings
    with pytest.raises(InputError, match=message):
        auto(knapsack.problem, knapsack.train, **given)
    assert knapsack.problem.statistics.solves == before


def test_a_search_that_its_time_limit_ended_continues_with_a_later_limit(knapsack, usual, tmp_path: Path):
    more = {"checkpoint": tmp_path / "limited.safetensors"}
    ended = search(knapsack, time_limit=1e-9, **more)
    assert (len(ended.history), "time limit" in ended.reason) == (1, True)
    again = search(knapsack, time_limit=1e-9, **more)
    assert (len(again.history), again.reason) == (1, ended.reason)
    later, whole = search(knapsack, time_limit=1e9, **more), usual
    assert len(later.history) == len(whole.history) == 4
    assert [row["regret"] for row in later.history] == [row["regret"] for row in whole.history]
    for model in (ended, again), (later, whole):
        for a, b in zip(model[0].model.parameters(), model[1].model.parameters(), strict=True):
            assert torch.equal(a, b)


SCRIPT = """
import sys, torch
from regretless.problems import load
from regretless.search import auto, automatic, final_model, verdict
from regretless.search.candidates import Candidate
loaded = load("synthetic-knapsack-60", days=120)
few = [Candidate("map-dc", 0.01), Candidate("soft", 0.01)]
settings = {"candidates": few, "epochs": 10, "checkpoint": sys.argv[1], "progress": False}
found = auto(loaded.problem, loaded.train, loaded.model, **settings)
torch.save(found.model.state_dict(), sys.argv[2])
"""


def test_a_search_that_is_killed_and_resumed_ends_in_the_same_model(tmp_path: Path, monkeypatch):
    def words(name):
        return [str(tmp_path / f"{name}.safetensors"), str(tmp_path / f"{name}.pt")]

    monkeypatch.setattr(sys, "argv", ["-c", *words("whole")])
    exec(SCRIPT, {})
    killed = forked.start(SCRIPT, *words("killed"))
    while not (tmp_path / "killed.safetensors").exists():
        if killed.exitcode is not None:
            pytest.fail("the search ended before its first checkpoint")
        time.sleep(0.01)
    killed.kill()
    killed.join()
    monkeypatch.setattr(sys, "argv", ["-c", *words("killed")])
    exec(SCRIPT, {})
    a, b = (torch.load(tmp_path / f"{name}.pt") for name in ("whole", "killed"))
    assert all(torch.equal(a[key], b[key]) for key in a)


def test_a_search_may_start_from_the_weights_of_the_model(knapsack):
    a, b = (search(knapsack, start=start, growth=0.0) for start in ("two-stage", "random"))
    for one, other in zip(a.two_stage.parameters(), b.two_stage.parameters(), strict=True):
        assert torch.equal(one, other)
    assert a.history[0]["regret"] != b.history[0]["regret"]
    with pytest.raises(InputError, match="start must be one of two-stage, random, got 'zero'"):
        search(knapsack, start="zero")


def test_solves_of_methods_without_a_cache_are_counted(knapsack):
    before = knapsack.problem.statistics.solves
    found = auto(
        knapsack.problem, knapsack.train, knapsack.model, candidates=[Candidate("spo", 0.01)], epochs=1, folds=2,
        growth=0.0, progress=False,
    )  # fmt: skip
    n = len(knapsack.train)
    assert found.solves["growth"] == 2 * n  # half of the data in each of two folds, and all of it
    assert sum(found.solves.values()) == knapsack.problem.statistics.solves - before


def test_methods_may_be_separated_by_commas(knapsack):
    found = auto(
        knapsack.problem, knapsack.train, knapsack.model, methods="map-dc, nce-c", epochs=1, folds=2, progress=False
    )
    assert {score.name.split()[0] for score in found.scores} == {"map-dc", "nce-c"}


def squared(n=80):
    """Costs that are squares of linear functions, one of three to choose."""
    chance = torch.Generator().manual_seed(0)
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=3)
    x = torch.randn(n, 2, generator=chance)
    return problem, Dataset.solve(problem, x, (x @ torch.randn(2, 3, generator=chance)) ** 2)


def test_without_a_model_quadratic_models_are_tried_beside_linear_ones():
    problem, data = squared()
    found = auto(problem, data, methods="map-dc", epochs=2, folds=2, progress=False)
    names = [score.name for score in found.scores]
    assert sum(name.endswith("products") for name in names) * 2 == len(names)
    assert names[0].endswith("products")
    assert evaluate(found.model, data, problem).regret < 0.05 * evaluate(two_stage_of(data, 3), data, problem).regret


def two_stage_of(data, dimension):
    model = make_model(data.features, dimension, costs=data.costs)
    two_stage.fit_two_stage(model, data, progress=False)
    return model


@pytest.mark.parametrize("terms", [None, "none"])
def test_a_model_that_is_given_stays_of_its_kind(terms):
    problem, data = squared(20)
    model = None if terms == "none" else make_model(data.features, 3, costs=data.costs)
    found = auto(problem, data, model, terms=terms, methods="map-dc", epochs=1, folds=2, progress=False)
    assert not any("products" in score.name for score in found.scores)
    assert found.model.state_dict().keys() == make_model(data.features, 3, costs=data.costs).state_dict().keys()


def test_a_linear_setting_beside_quadratic_ones_is_the_one_without_them():
    """Growth is the only thing that settings share."""
    problem, data = squared()
    one, other = (
        auto(problem, data, candidates=FEW[:2] + more, epochs=3, committee=1, growth=0.0, fallback=False, folds=2,
             progress=False)
        for more in ([], [Candidate("map-dc", 0.01, terms=("products",))])
    )  # fmt: skip
    scores = {(score.name, score.epochs): score.regret for score in other.scores}
    for score in one.scores:
        assert scores[score.name, score.epochs] == pytest.approx(score.regret, rel=1e-4, abs=1e-6)


def levels(n=60, d=4):
    """Costs of one slope and a level per variable, of which the features say nothing."""
    chance = torch.Generator().manual_seed(0)
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=d)
    x = torch.randn(n, d, 2, generator=chance)
    return problem, Dataset.solve(problem, x, x.sum(dim=2) + torch.tensor([0.0, 3.0, 1.0, -1.0]))


def forms_of(found):
    return {tuple(word for word in score.name.split()[2:] if "=" not in word) for score in found.scores}


def test_without_a_model_variables_get_intercepts_where_they_share_a_layer():
    problem, data = levels()
    found = auto(problem, data, methods="map-dc", epochs=2, folds=2, progress=False)
    assert forms_of(found) == {(), ("products",), ("products", "intercepts"), ("splines", "intercepts")}
    assert found.scores[0].name.endswith("intercepts")
    assert find_linear(found.two_stage).terms[-1:] == ("intercepts",)
    shared = two_stage_of(data, 4)
    assert evaluate(found.model, data, problem).regret < 0.05 * evaluate(shared, data, problem).regret


def test_a_bend_that_no_square_has_is_found_by_splines():
    chance = torch.Generator().manual_seed(0)
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=4)
    x = torch.rand(80, 4, 1, generator=chance)
    costs = torch.where(x < 0.5, -x, x - 1.0 + 4 * (x - 0.7).clamp(min=0))[..., 0]
    data, later = Dataset.solve(problem, x, costs).split(0.5)
    found, without = (
        auto(problem, data, terms=terms, methods="map-dc", epochs=2, folds=2, progress=False)
        for terms in (None, "products,intercepts")
    )
    assert "splines" in found.scores[0].name
    assert find_linear(found.two_stage).terms == ("splines", "intercepts")
    assert evaluate(found.model, later, problem).regret < 0.3 * evaluate(without.model, later, problem).regret


def test_terms_are_chosen_by_name():
    problem, data = levels(20)
    found = auto(problem, data, terms="intercepts", methods="map-dc", epochs=1, folds=2, progress=False)
    assert forms_of(found) == {(), ("intercepts",)}


def test_terms_need_a_linear_model(monkeypatch):
    problem, data = squared(20)
    net = make_model(data.features, 3, kind="mlp")
    monkeypatch.setattr("regretless.search.automatic.fit_baseline", None)  # refused before anything is trained
    with pytest.raises(InputError, match="terms are added to linear models only"):
        auto(problem, data, net, terms="products", epochs=1, folds=2)
    with pytest.raises(InputError, match="terms are products, splines, intercepts, or 'none'; got 'cubes'"):
        auto(problem, data, terms="cubes", epochs=1, folds=2)


def test_scores_of_an_interrupted_search_are_not_solved_again(knapsack, tmp_path, monkeypatch):
    monkeypatch.setattr(begun_solves, "WORTH", 0.0)
    whole = search(knapsack)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    more = {"checkpoint": tmp_path / "search.safetensors"}
    for where in ((automatic, "fit_stacked"), (final_model, "merge")):
        with monkeypatch.context() as patch:
            patch.setattr(*where, interrupted)
            with pytest.raises(KeyboardInterrupt):
                search(knapsack, **more)
    before = knapsack.problem.statistics.count("scoring")
    resumed = search(knapsack, **more)
    assert whole.solves["scoring"] >= 100
    assert knapsack.problem.statistics.count("scoring") == before
    assert resumed.solves == whole.solves, "those of all sessions"
    assert str(resumed.verdict) == str(whole.verdict)
    for one, other in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(one, other)


def left_after_one_epoch(monkeypatch, *args, **how):
    """Interrupt a search once its first checkpoint is written."""

    def save(*words):
        stack_checkpoint.save(*words)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(stacked_fit, "stack_checkpoint", SimpleNamespace(save=save, load=stack_checkpoint.load))
        with pytest.raises(KeyboardInterrupt):
            auto(*args, **how)


@pytest.mark.parametrize("make", [squared, levels])
def test_a_search_with_terms_continues_from_its_checkpoint(make, tmp_path, monkeypatch):
    problem, data = make(24)
    how = {"methods": "map-dc", "epochs": 3, "folds": 2, "fallback": False, "progress": False}
    whole = auto(problem, data, **how)
    how["checkpoint"] = tmp_path / "search.safetensors"
    left_after_one_epoch(monkeypatch, problem, data, **how)
    resumed = auto(problem, data, **how)
    assert [row["epoch"] for row in resumed.history] == [row["epoch"] for row in whole.history]
    for one, other in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_checkpoint_of_another_search_or_model_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(two_stage, "EPOCHS", 2)
    problem, data = squared(24)
    how = {"methods": "map-dc", "epochs": 2, "folds": 2, "progress": False, "checkpoint": tmp_path / "s.safetensors"}

    def net(activation):
        inputs, outputs = data.features.shape[1], problem.dimension
        return lambda _: nn.Sequential(nn.Linear(inputs, 4), activation, nn.Linear(4, outputs))

    left_after_one_epoch(monkeypatch, problem, data, net(nn.ReLU()), **how)
    with pytest.raises(FileError, match=r"belongs to another search: it differs in .*seed"):
        auto(problem, data, net(nn.ReLU()), **how, seed=1)
    with pytest.raises(FileError, match=r"belongs to another search: it differs in model$"):
        auto(problem, data, net(nn.Tanh()), **how)  # its weights have the same shapes
    with pytest.raises(FileError, match=r"differs in initial weights\. Give a function seed -> model, or seed torch"):
        auto(problem, data, net(nn.ReLU())(0), **how)
    auto(problem, data, net(nn.ReLU()), **how)


def test_every_setting_that_determines_the_numbers_identifies_a_search(tmp_path, monkeypatch):
    problem, data = squared(24)
    how = {"methods": "map-dc", "terms": "none", "epochs": 2, "folds": 2, "checkpoint": tmp_path / "s.safetensors"}
    left_after_one_epoch(monkeypatch, problem, data, **how)
    changes = {"ordered": True, "folds": 3, "growth": 0.5, "epochs": 3, "batch_size": 7}
    for name, value in changes.items():
        with pytest.raises(FileError, match=rf"belongs to another search: it differs in {name}$"):
            auto(problem, data, **how | {name: value})
    with pytest.raises(FileError, match=r"differs in .*data.*\. The data have changed since: restore the tables, or"):
        auto(problem, squared(25)[1], **how)
    with pytest.raises(FileError, match=r"differs in initial weights, start$"):
        auto(problem, data, **how, start="random")
    with pytest.raises(FileError, match=r"differs in candidates$"):
        auto(problem, data, **how | {"methods": "spo-cache"})
    with pytest.raises(FileError, match=r"differs in data"):
        auto(problem, data[torch.arange(23)], **how)
    with pytest.raises(FileError, match=r"differs in solutions$"):
        auto(problem, data, **how, solutions=(data.solutions, None))
    with pytest.raises(FileError, match=r"differs in .*precision"):
        auto(problem, data, nn.Linear(data.features.shape[1], problem.dimension).double(), **how)


def test_weights_identify_a_search_where_the_result_depends_on_them(tmp_path, monkeypatch):
    problem, data = squared(24)
    how = {"methods": "map-dc", "terms": "none", "epochs": 2, "folds": 2, "checkpoint": tmp_path / "s.safetensors"}

    def linear():
        return nn.Linear(data.features.shape[1], problem.dimension)

    left_after_one_epoch(monkeypatch, problem, data, linear(), **how)
    auto(problem, data, linear(), **how)  # both start from the two-stage weights
    how |= {"checkpoint": tmp_path / "random.safetensors", "start": "random"}
    left_after_one_epoch(monkeypatch, problem, data, linear(), **how)
    monkeypatch.setattr(automatic, "fit_baseline", None)  # refused before anything is solved
    with pytest.raises(FileError, match="differs in initial weights"):
        auto(problem, data, linear(), **how)


def test_rates_whose_names_are_equal_are_different_searches(tmp_path, monkeypatch):
    problem, data = squared(24)
    how = {"epochs": 2, "folds": 2, "checkpoint": tmp_path / "s.safetensors"}
    one, other = Candidate("map-dc", 0.0123456), Candidate("map-dc", 0.01234561)
    assert one.name == other.name
    left_after_one_epoch(monkeypatch, problem, data, candidates=[one], **how)
    with pytest.raises(FileError, match="differs in candidates"):
        auto(problem, data, candidates=[other], **how)


def test_candidates_are_objects_and_stand_in_place_of_methods_and_terms(knapsack):
    with pytest.raises(InputError, match="each of candidates must be a Candidate, got str: names of methods go to"):
        auto(knapsack.problem, knapsack.train, candidates=["spo-cache"])
    for more in ({"methods": "map-dc"}, {"terms": "products"}):
        with pytest.raises(InputError, match="leave out methods= and terms="):
            auto(knapsack.problem, knapsack.train, candidates=FEW, **more)


def test_the_table_of_methods_has_the_defaults_of_the_search():
    defaults = {name: one.default for name, one in inspect.signature(auto).parameters.items()}
    options = method("auto").options
    assert options == {name: defaults[name] for name in options}


def test_a_search_under_autocast_is_refused(knapsack):
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(InputError, match="outside of"):
        search(knapsack)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_the_models_of_a_search_predict_without_dropout(knapsack, monkeypatch, weight):
    monkeypatch.setattr(two_stage, "EPOCHS", 2)
    monkeypatch.setattr(verdict.Verdict, "weight", weight)
    model = nn.Sequential(nn.Linear(8, 4), nn.Dropout(), nn.Linear(4, 1), nn.Flatten())
    found = auto(knapsack.problem, knapsack.train, model, candidates=FEW, epochs=1, progress=False)
    assert not any(module.training for of in (found.model, found.two_stage) for module in of.modules())


def data(n: int) -> Dataset:
    problem = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
    x = torch.arange(n, dtype=torch.float32)[:, None]
    return Dataset.solve(problem, x, torch.cat([x, -x, x**2], dim=1))


def test_a_sample_keeps_the_order_and_follows_the_seed():
    whole = data(60)
    with pytest.warns(RegretlessWarning, match="a sample of 20 of the 60 training instances"):
        part = sampled(whole, 20, least=10, seed=1)
    rows = part.features[:, 0]
    assert len(rows) == 20
    assert (rows.diff() > 0).all()
    assert torch.equal(part.solutions, whole.solutions[rows.long()])
    with pytest.warns(RegretlessWarning):
        again, other = (sampled(whole, 20, least=10, seed=seed).features[:, 0] for seed in (1, 2))
    assert torch.equal(again, rows)
    assert not torch.equal(other, rows)


def test_data_that_are_small_or_asked_for_as_a_whole_stay_whole():
    whole = data(30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sampled(whole, 30, least=10, seed=0) is whole
        assert sampled(whole, None, least=10, seed=0) is whole


def test_a_search_uses_the_sample_only():
    problem = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
    with pytest.warns(RegretlessWarning, match="a sample of 30 of the 50"):
        found = auto(problem, data(50), sample=30, epochs=1, methods="map-dc", terms="none", progress=False)
    assert found.verdict.instances <= 30
    assert found.solves["growth"] <= 30


def test_a_sample_that_is_too_small_for_the_folds_is_refused():
    with pytest.raises(InputError, match="sample must be an integer, at least 10, got 5"):
        sampled(data(30), 5, least=10, seed=0)


PROBLEM = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
X = torch.linspace(-1, 1, 6)[:, None]
DATA = Dataset.solve(PROBLEM, X, torch.cat([X, -X, X**2], dim=1), progress=False)


def network(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(1, 4), nn.ReLU(), nn.Linear(4, 3))


def identity(model: nn.Module, **changed: Any) -> dict[str, Any]:
    given = {"data": DATA, "candidates": [Candidate("map-dc", 0.1)], "solutions": None, "start": "two-stage", "seed": 0}
    return search_identity(PROBLEM, model=model, **given | changed)


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [name for name in one if one[name] != other[name]]


def test_equal_searches_have_one_identity_and_each_change_is_named() -> None:
    base = identity(network(0))
    assert identity(network(0)) == base
    changes: dict[str, Any] = {
        "data": DATA[:5], "candidates": [Candidate("map-dc", 0.1000000001)], "start": "random", "seed": 1,
        "solutions": (torch.eye(3), None),
    }  # fmt: skip
    for name, value in changes.items():
        assert differing(base, identity(network(0), **{name: value})) == [name]
    assert set(differing(base, identity(network(0).double()))) == {"precision", "initial weights"}


def test_initial_weights_count_unless_the_closed_form_replaces_them() -> None:
    assert differing(identity(network(0)), identity(network(1))) == ["initial weights"]
    linear = [make_model(X, 3, costs=DATA.costs) for _ in range(2)]
    with torch.no_grad():
        next(linear[1].parameters()).add_(1.0)
    assert identity(linear[0]) == identity(linear[1])
    assert differing(*(identity(model, start="random") for model in linear)) == ["initial weights"]
