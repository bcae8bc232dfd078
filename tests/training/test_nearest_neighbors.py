from __future__ import annotations

import pytest
import torch

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.training.nearest_neighbors import neighbor_labels

from . import runs


def test_costs_are_mixtures_with_the_nearest_instances_and_labels_are_their_optima():
    data = runs.data(n=9)
    found = neighbor_labels(runs.problem(), data, neighbors=3, weight=0.7)
    assert len(found) == 27
    flat = data.features.flatten(1).double()
    for i in range(9):
        order = sorted((j for j in range(9) if j != i), key=lambda j: float((flat[i] - flat[j]).norm()))
        for place, j in enumerate(order[:3]):
            row = 3 * i + place
            assert torch.equal(found.features[row], data.features[i])
            torch.testing.assert_close(found.costs[row], 0.7 * data.costs[i] + 0.3 * data.costs[j])
    exact = runs.problem().solve(found.costs).objective
    torch.testing.assert_close((found.costs * found.solutions).sum(1), exact)


def test_a_weight_of_one_repeats_the_data_and_a_store_keeps_the_labels(tmp_path):
    data = runs.data(n=5)
    found = neighbor_labels(runs.problem(), data, neighbors=2, weight=1.0, store=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    assert torch.equal(found.costs, data.costs.repeat_interleave(2, dim=0))
    assert torch.equal(found.solutions, data.solutions.repeat_interleave(2, dim=0))


def test_members_of_a_family_keep_their_constraints():
    family = Family([MILP([[1.0, 1.0, 1.0]], row_upper=limit) for limit in (1.0, 2.0)])
    problem = Problem(family, sense="max")
    costs = [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [1.0, 1.0, 9.0]]
    data = Dataset.solve(problem, [[0.0], [0.1], [5.0]], costs, instance=[0, 1, 1])
    found = neighbor_labels(problem, data, neighbors=1)
    assert found.instance.tolist() == [0, 1, 1]
    assert found.solutions.sum(dim=1).tolist() == [1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"neighbors": 0}, "neighbors must be an integer from 1 to 4, got 0"),
        ({"neighbors": 5}, "neighbors must be an integer from 1 to 4, got 5"),
        ({"neighbors": 2, "weight": 1.5}, "weight must be between 0 and 1, got 1.5"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        neighbor_labels(runs.problem(), runs.data(n=5), **settings)
