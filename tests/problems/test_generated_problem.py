from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.errors import InputError
from regretless.problems import load, names
from regretless.problems.generated_problem import Settings
from regretless.problems.problem_table import GENERATED

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
