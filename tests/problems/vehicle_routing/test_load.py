from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.errors import InputError
from regretless.problems import load
from regretless.problems.vehicle_routing.load import customer_demands


def test_demands_are_those_of_pyepos_notebook():
    np.testing.assert_allclose(customer_demands(20, 42)[:3], [3.74540119, 9.50714306, 7.31993942])


def test_standard_setting_is_that_of_pyepos_notebook():
    loaded = load("vehicle-routing", train=2, test=1)
    assert (loaded.train.costs.shape, loaded.train.features.shape) == ((2, 210), (2, 10))
    assert loaded.train.not_optimal == 0
    assert loaded.problem.sense == "min"


def test_the_flow_model_gives_the_same_optimal_values():
    special, general = (load("vehicle-routing", customers=5, train=4, test=1, engine=e) for e in ("oracle", "highs"))
    torch.testing.assert_close(
        (special.train.costs * special.train.solutions).sum(1), (general.train.costs * general.train.solutions).sum(1)
    )


def test_too_few_vehicles_are_refused():
    with pytest.raises(InputError, match="need at least 4 vehicles of capacity 30, got 3"):
        load("vehicle-routing", vehicles=3)
