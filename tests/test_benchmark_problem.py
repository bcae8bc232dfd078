from __future__ import annotations

import dataclasses
import inspect

import pytest
import torch

from regretless.benchmark_problem import BenchmarkProblem
from regretless.problems import load

OPTIONAL = {"evaluated_on": "test", "test_names": None, "kept": None, "counts": {}}


@pytest.fixture(
    scope="module",
    params=[("synthetic-knapsack-60", {"days": 20}), ("top-k", {"train": 6, "test": 3, "validation": 2, "items": 8})],
    ids=lambda problem: problem[0],
)
def loaded(request: pytest.FixtureRequest) -> BenchmarkProblem:
    name, options = request.param
    return load(name, **options)


def test_what_the_loader_of_a_problem_must_give_and_what_it_may_leave_out() -> None:
    parameters = inspect.signature(BenchmarkProblem).parameters.values()
    needed = {one.name: None for one in parameters if one.default is inspect.Parameter.empty}
    least = BenchmarkProblem(**needed)
    assert {one.name: getattr(least, one.name) for one in parameters if one.name not in needed} == OPTIONAL


def test_models_map_features_to_costs_and_are_fresh_for_every_call(loaded: BenchmarkProblem) -> None:
    first, again, other = loaded.model(0), loaded.model(0), loaded.model(1)
    features = loaded.train.features
    assert first(features).shape == loaded.train.costs.shape
    assert torch.equal(first(features), again(features))
    assert not torch.equal(first(features), other(features))
    with torch.no_grad():
        for weights in first.parameters():
            weights.add_(1.0)
    assert torch.equal(loaded.model(0)(features), again(features))


def test_all_parts_have_the_costs_of_the_problem_and_its_optima(loaded: BenchmarkProblem) -> None:
    for part in (loaded.train, loaded.validation, loaded.test):
        assert part is not None
        assert part.costs.shape[1] == loaded.problem.dimension
        best = loaded.problem.solve(part.costs).solution
        assert torch.allclose((part.costs * part.solutions).sum(1), (part.costs * best).sum(1))


def test_a_loaded_problem_is_changed_by_a_copy_only(loaded: BenchmarkProblem) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        loaded.batch_size = 7  # type: ignore[misc]
    assert dataclasses.replace(loaded, validation=None).train is loaded.train
