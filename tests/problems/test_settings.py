from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from torch import nn

from regretless import Problem
from regretless.errors import InputError, RegretlessWarning, SolveError
from regretless.problems import load, names
from regretless.problems.problem_table import GENERATED
from regretless.problems.settings import Settings, SharedLinear, Solving, seeded, shared_linear


def test_one_layer_serves_all_slots():
    model = SharedLinear(8)
    x = torch.randn(5, 48, 8)
    assert torch.allclose(model(x), model.linear(x)[..., 0], atol=1e-6)
    assert model(x).shape == (5, 48)
    assert sum(parameter.numel() for parameter in model.parameters()) == 9


def test_its_gradient_is_that_of_the_layer():
    model, x = SharedLinear(3).double(), torch.randn(4, 6, 3, dtype=torch.float64)
    mine = torch.autograd.grad(model(x).square().sum(), list(model.parameters()))
    its = torch.autograd.grad(model.linear(x).square().sum(), list(model.parameters()))
    assert all(torch.allclose(a, b) for a, b in zip(mine, its, strict=True))


def test_the_seed_decides_the_weights_and_the_global_generator_is_left_alone():
    make = shared_linear(8)
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    first, second, other = make(1), make(1), make(2)
    assert torch.equal(torch.rand(2), expected)
    assert torch.equal(first.linear.weight, second.linear.weight)
    assert not torch.equal(first.linear.weight, other.linear.weight)


def test_weights_are_those_of_torch():
    torch.manual_seed(7)
    plain = nn.Linear(8, 1)
    assert torch.equal(shared_linear(8)(7).linear.weight, plain.weight)


def test_any_model_can_be_seeded_and_the_maker_pickled():
    assert torch.equal(seeded(lambda: nn.Linear(2, 2), 3).weight, seeded(lambda: nn.Linear(2, 2), 3).weight)
    assert torch.equal(pickle.loads(pickle.dumps(shared_linear(4)))(1).linear.weight, shared_linear(4)(1).linear.weight)


def chosen(costs):
    """The cheapest item; rows whose first cost is negative have no solution."""
    if costs[0] < 0:
        raise ValueError("no solution")
    return costs == costs.min()


def parts_of(costs, rows, on_failure="raise"):
    problem = Problem(oracle=chosen, dimension=2, name="cheapest")
    return Solving(on_failure=on_failure).labelled(problem, np.arange(len(costs))[:, None], costs, rows)


COSTS = np.array([[1.0, 2.0], [-1.0, 0.0], [4.0, 3.0], [5.0, 6.0], [-2.0, 1.0]])


def test_parts_have_their_rows_in_the_given_order():
    first, none, second = parts_of(np.abs(COSTS), [np.array([4, 0]), [], [1, 2, 3]])
    assert first.features.flatten().tolist() == [4, 0]
    assert second.features.flatten().tolist() == [1, 2, 3]
    assert (len(none), first.names) == (0, None)


@pytest.mark.parametrize("on_failure", ["skip", "cache"])
def test_rows_without_a_solution_are_left_out_of_their_part(on_failure):
    with pytest.warns(RegretlessWarning, match="2 of 5 instances have no solution and are left out: 1, 4"):
        first, second = parts_of(COSTS, [[3, 1, 0], [4, 2]], on_failure=on_failure)
    assert first.features.flatten().tolist() == [3, 0]
    assert first.costs.tolist() == [[5.0, 6.0], [1.0, 2.0]]
    assert second.solutions.tolist() == [[0.0, 1.0]]


def test_a_part_without_any_solution_is_an_error():
    with (
        pytest.warns(RegretlessWarning),
        pytest.raises(SolveError, match="cheapest has no solution for any of the 2 instances"),
    ):
        parts_of(COSTS, [[0, 2], [1, 4]], on_failure="skip")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("travelling-salesman", {"nodes": 6, "train": 3, "test": 2}),
        ("facility-location", {"customers": 5, "facilities": 4, "train": 3, "test": 2, "split_seed": 1}),
        ("synthetic-knapsack-60", {"days": 20, "engine": "highs"}),
        ("workshop", {"orders": 2, "train": 3, "test": 2}),
    ],
)
def test_labels_of_named_problems_follow_on_failure(name, options, monkeypatch):
    whole = load(name, **options)
    attempt = Problem.attempt

    def fails_once(self, costs, *args, **settings):
        solved = attempt(self, costs, *args, **settings)
        same = (costs == self.to_minimization(whole.train.costs[:1])).all(dim=1)
        ends = [type(end)("time limit") if lost else end for end, lost in zip(solved.statuses, same, strict=True)]
        solution = torch.where(same[:, None], torch.nan, solved.solution)
        return type(solved)(solution, ends, decision=solved.decision)

    monkeypatch.setattr(Problem, "attempt", fails_once)
    with pytest.raises(SolveError, match=r": time limit\. Set on_failure='cache' or 'skip'"):
        load(name, **options)
    with pytest.warns(RegretlessWarning, match="have no solution and are left out"):
        loaded = load(name, **options, on_failure="skip")
    assert torch.equal(loaded.train.costs, whole.train.costs[1:])
    assert torch.equal(loaded.train.solutions, whole.train.solutions[1:])
    assert torch.equal(loaded.test.costs, whole.test.costs)
    assert loaded.problem.on_failure == "skip"


@pytest.mark.parametrize(
    ("name", "size"), [("synthetic-knapsack-60", {"days": 20}), ("top-k", {"items": 4, "train": 2, "test": 1})]
)
def test_a_gap_is_for_engines(name: str, size: dict[str, int]) -> None:
    assert load(name, **size, engine="highs", gap=0.1).problem.solver == "highs(gap=0.1)"
    with pytest.raises(InputError, match=r"gap= is for engines, .* add engine='highs'"):
        load(name, **size, gap=0.1)


SMALL = {
    "shortest-path": {},
    "multi-knapsack": {"items": 10},
    "travelling-salesman": {"nodes": 6},
    "vehicle-routing": {"customers": 6},
    "portfolio": {"assets": 6},
    "facility-location": {"customers": 8, "facilities": 4},
    "random-lp": {"variables": 10, "rows": 5},
    "top-k": {"items": 8},
}
PARTS = {"train": 6, "test": 3, "validation": 2}


def small(name, **options):
    if name == "portfolio":
        pytest.importorskip("cvxpy")
    return load(name, **SMALL[name] | PARTS | options)


def test_every_generated_problem_is_in_the_table_and_tested_here():
    assert sorted(SMALL) == sorted(name for row in GENERATED for name in row[0])
    assert set(SMALL) <= set(names())


@pytest.mark.parametrize("name", SMALL)
def test_parts_have_the_sizes_that_were_asked_for(name):
    loaded = small(name)
    assert (len(loaded.train), len(loaded.validation), len(loaded.test)) == (6, 2, 3)
    assert (loaded.name, loaded.problem.name) == (name, name)
    assert small(name, validation=0).validation is None


@pytest.mark.parametrize("name", SMALL)
def test_same_seed_gives_the_same_data_and_another_one_does_not(name):
    one, two, other = small(name), small(name), small(name, seed=7)
    assert torch.equal(one.train.costs, two.train.costs)
    assert torch.equal(one.test.features, two.test.features)
    assert not torch.equal(one.train.costs, other.train.costs)


@pytest.mark.parametrize("name", SMALL)
def test_labels_are_no_worse_than_other_solutions_in_the_sense_of_the_problem(name):
    loaded = small(name)
    to_minimize = loaded.problem.to_minimization(loaded.train.costs)
    values = to_minimize @ loaded.train.solutions.T  # of every label for every instance: all are feasible
    assert (values.diagonal()[:, None] <= values + 1e-6).all()
    assert loaded.train.not_optimal == 0


@pytest.mark.parametrize("name", SMALL)
def test_the_model_maps_features_to_costs_and_depends_on_its_seed(name):
    loaded = small(name)
    assert loaded.model(0)(loaded.train.features).shape == loaded.train.costs.shape
    assert torch.equal(loaded.model(1)(loaded.test.features), loaded.model(1)(loaded.test.features))
    assert not torch.equal(loaded.model(1)(loaded.test.features), loaded.model(2)(loaded.test.features))


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train": 0}, "train must be an integer, at least 1"),
        ({"test": 1.5}, "'test' of problem .* must be an integer"),
        ({"validation": -1}, "validation must be an integer, at least 0"),
        ({"seed": -3}, "'seed' of problem .* must be an integer, at least 0"),
        ({"degree": 2}, "'degree'"),
    ],
)
def test_bad_options_are_named(name, options, message):
    with pytest.raises(InputError, match=message):
        small(name, **options)


def test_stored_labels_are_used_again(tmp_path):
    first = small("travelling-salesman", store=tmp_path)
    assert len(list(tmp_path.glob("labels-*.safetensors"))) == 1
    second = small("travelling-salesman", store=tmp_path)
    assert second.problem.statistics.solves == 0
    assert torch.equal(first.train.solutions, second.train.solutions)


def test_a_split_seed_gives_the_rows_of_scikit_learn():
    splitting = pytest.importorskip("sklearn.model_selection")
    train, validation, test = Settings(train=20, test=7, split_seed=246).rows()
    want_train, want_test = splitting.train_test_split(np.arange(27), test_size=7, random_state=246)
    assert (train.tolist(), validation.tolist(), test.tolist()) == (want_train.tolist(), [], want_test.tolist())


def test_the_model_is_linear_in_the_raw_features():
    model = small("shortest-path").model(0)
    assert torch.equal(model(torch.zeros(1, 5))[0], model.bias)


def test_a_problem_without_an_oracle_of_its_own_is_solved_by_highs():
    assert small("random-lp").problem.engine == "highs"
    assert small("random-lp", engine="oracle").problem.engine == "highs"
    assert small("shortest-path").problem.engine == ""
