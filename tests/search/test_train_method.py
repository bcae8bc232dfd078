from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless import MILP, Dataset, Problem, evaluate, train
from regretless.errors import InputError
from regretless.search.train_method import is_best_fit, refuse_unused, unused_arguments
from regretless.training import TimeLimit, methods
from regretless.training.models import make_model

TRAINED = [name for name in methods.names() if name not in ("auto", "direct")]


def data(n=40, d=4, scale=1.0):
    generator = torch.Generator().manual_seed(0)
    choose_two = MILP([[1.0] * d], row_lower=2.0, row_upper=2.0)  # some methods need a model
    problem = Problem(choose_two, oracle=lambda c: np.isin(np.arange(d), np.argsort(c, kind="stable")[:2]) * 1.0)
    x = torch.randn(n, 3, generator=generator)
    c = (x @ torch.randn(3, d, generator=generator)) ** 3 + torch.randn(n, d, generator=generator)
    return problem, Dataset.solve(problem, x, scale * c)


def test_without_a_method_it_searches():
    problem, train_data = data()
    found = train(problem, train_data, epochs=2, progress=False)
    assert found.search is not None
    assert len(found.history) == 2
    assert found.model is found.search.model


@pytest.mark.parametrize("name", TRAINED)
def test_every_method_trains_by_name(name):
    problem, train_data = data()
    found = train(problem, train_data, method=name, epochs=1, progress=False)
    assert len(found.history) == 1
    assert found.search is None


@pytest.mark.parametrize("method", ["two-stage", "pfy"])
def test_a_seed_of_numpy_is_a_seed(method):
    problem, train_data = data(n=12)
    one, same = (
        train(problem, train_data, method=method, epochs=1, seed=seed, progress=False).model(train_data.features)
        for seed in (1, np.int64(1))
    )
    assert torch.equal(one, same)


def test_two_stage_is_the_best_fit_unless_epochs_or_a_rate_are_given():
    problem, train_data = data()
    best = train(problem, train_data, method="two-stage", progress=False)
    steps = train(problem, train_data, method="two-stage", epochs=2, progress=False)
    assert "closed form" in best.reason
    assert len(steps.history) == 2
    assert evaluate(best.model, train_data, problem).mse < evaluate(steps.model, train_data, problem).mse


def test_a_method_can_start_from_two_stage_or_from_another_model():
    problem, train_data = data()
    base = train(problem, train_data, method="two-stage").model
    for start in ("two-stage", base, base.state_dict()):
        found = train(problem, train_data, method="map-dc", epochs=0, start=start, progress=False).model
        assert torch.equal(found(train_data.features), base(train_data.features))


@pytest.mark.parametrize("method", ["map-dc", "two-stage"])
@pytest.mark.parametrize("scale", [1e-8, 0.001, 1000.0])
def test_one_learning_rate_serves_all_units_of_the_costs(scale, method):
    regrets = []
    for factor in (1.0, scale):
        problem, train_data = data(scale=factor)
        found = train(problem, train_data, method=method, epochs=5, lr=0.05, progress=False)
        regrets.append(evaluate(found.model, train_data, problem).relative_regret)
    assert regrets[1] == pytest.approx(regrets[0], rel=0.05)


def test_two_stage_of_no_epochs_is_the_model_as_it_was():
    problem, train_data = data()
    first = make_model(train_data.features, 4, costs=train_data.costs, seed=0)
    found = train(problem, train_data, method="two-stage", epochs=0, progress=False)
    assert found.reason == "all 0 epochs done"
    assert torch.equal(found.model(train_data.features), first(train_data.features))


def test_validation_without_patience_is_watched_to_the_end():
    problem, train_data = data()
    few, held_out = train_data[:30], train_data[30:]
    found = train(problem, few, method="spo", validation=held_out, epochs=3, progress=False)
    assert found.history.column("validation_regret")[-1] == evaluate(found.model, held_out, problem).regret
    assert found.reason == "all 3 epochs done"


def test_validation_without_patience_selects_the_weights_of_a_direct_search():
    pytest.importorskip("cma")
    problem, train_data = data()
    few, held_out = train_data[:30], train_data[30:]
    found = train(
        problem, few, method="direct", generations=3, population=4, validation=held_out, seed=1, progress=False
    )
    assert len(found.history) == 3
    start = make_model(few.features, 4, costs=few.costs, seed=1)
    regrets = [evaluate(start, held_out, problem).regret, *found.history.column("validation_regret")]
    assert evaluate(found.model, held_out, problem).regret == min(regrets)


def test_early_stopping_watches_the_validation_regret():
    problem, train_data = data()
    found = train(
        problem, train_data[:30], method="spo", validation=train_data[30:], patience=1, epochs=50, progress=False
    )
    assert "validation_regret" in found.reason


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "nothing"}, "method must be one of"),
        ({"method": "map-dc", "temprature": 1.0}, "does not know 'temprature'"),
        ({"method": "map-dc", "start": "nowhere"}, "start must be 'two-stage'"),
        ({"method": "map-dc", "start": make_model(torch.zeros(2, 5), 9)}, "do not fit the model: .*size mismatch for"),
        ({"method": "map-dc", "patience": 2}, "patience needs validation data"),
        ({"lr": 0.1}, "'auto' chooses by folds of the training data: leave out lr"),
        ({"callbacks": [TimeLimit(1.0)]}, "leave out callbacks"),
        ({"method": "direct", "epochs": 5}, "its settings are generations, population, sigma: leave out epochs"),
        ({"method": "direct", "lr": 0.1}, "leave out lr"),
        ({"method": "direct", "batch_size": 8}, "leave out batch_size"),
        ({"method": "direct", "callbacks": iter([TimeLimit(1.0)])}, "leave out callbacks"),
        ({"method": "two-stage", "validation": data()[1], "patience": 2}, "unless fit='gradient'.* out validation"),
        ({"method": "two-stage", "checkpoint": "file"}, "leave out checkpoint"),
        ({"method": "two-stage", "batch_size": 8}, "leave out batch_size"),
        ({"method": "two-stage", "callbacks": [TimeLimit(1.0)]}, "leave out callbacks"),
        ({"method": "two-stage", "fit": "best", "epochs": 3}, "leave out epochs"),
        ({"method": "spo", "solutions": (torch.zeros(1, 4), None)}, "has no cache to put them in: leave out solutions"),
        ({"method": "direct", "solutions": (torch.zeros(1, 4), None)}, "leave out solutions"),
        ({"method": "map-dc", "solutions": torch.zeros(1, 4)}, "solutions must be a pair, .*or None.*, got a Tensor"),
        ({"solutions": torch.zeros(1, 4)}, "solutions must be a pair, .*or None.*, got a Tensor"),
    ],
)
def test_what_does_not_apply_is_refused_before_anything_is_solved(settings, message):
    problem, train_data = data()
    before = problem.statistics.solves
    with pytest.raises(InputError, match=message):
        train(problem, train_data, **settings)
    assert problem.statistics.solves == before


@pytest.mark.parametrize("method", ["auto", "spo"])
def test_problem_and_data_in_the_wrong_order_are_named(method):
    problem, train_data = data(10)
    with pytest.raises(InputError, match="problem must be a Problem, got Dataset"):
        train(train_data, problem, method=method)
    with pytest.raises(InputError, match=r"data must be a Dataset, got Tensor: build it with Dataset.solve\("):
        train(problem, train_data.features, method=method)


def test_the_rate_and_the_solutions_of_the_caller_are_used():
    problem, train_data = data(n=2)
    optima = {tuple(row) for row in train_data.solutions.tolist()}
    pairs = [[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]]
    more = next(row for row in pairs if tuple(row) not in optima)
    given = {"method": "listwise", "p_solve": 0.0, "epochs": 1, "solutions": (torch.tensor([more]), None)}
    one, other = (train(problem, train_data, lr=lr, progress=False, **given) for lr in (0.01, 0.02))
    assert one.cache.solutions.tolist()[len(optima) :] == [more]
    assert not torch.equal(one.model(train_data.features), other.model(train_data.features))


@pytest.mark.parametrize(
    ("settings", "given", "best"),
    [
        ({}, {}, True),
        ({}, {"epochs": 0}, False),
        ({}, {"lr": 0.1}, False),
        ({"fit": "best"}, {"epochs": 3}, True),
        ({"fit": "gradient"}, {}, False),
    ],
)
def test_two_stage_is_the_best_fit_where_it_is_set_or_no_steps_are_given(settings, given, best):
    assert is_best_fit("two-stage", settings, **given) == best
    assert not is_best_fit("spo", settings, **given)


def test_methods_with_a_cache_use_everything():
    assert not unused_arguments("map-dc", {}, {"epochs": 1})
    assert list(unused_arguments("spo", {}, {"epochs": 1})) == ["solutions"]


@pytest.mark.parametrize("name", methods.names())
def test_what_is_not_given_is_never_refused(name):
    nothing = dict.fromkeys(("epochs", "lr", "batch_size", "validation", "checkpoint", "solutions"))
    refuse_unused(name, {}, nothing | {"callbacks": [], "patience": 0})


def test_no_epochs_are_given_epochs():
    with pytest.raises(InputError, match="leave out epochs"):
        refuse_unused("direct", {}, {"epochs": 0})
