"""Training through every reader gives the same weights: what is read is the same model, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.data import Dataset
from regretless.modeling import read
from regretless.problem import Problem
from regretless.training import fit
from regretless.training.methods import make_loss
from regretless.training.models import make_model

from .test_read_model import MODELS, READERS


def weights(model, constant: float) -> torch.Tensor:
    milp, sense, cost_names = read(model, ["x_2", "x_0"], constant=constant)
    assert cost_names == ("x_2", "x_0")
    problem = Problem(milp, sense=sense)
    generator = np.random.default_rng(0)
    features = generator.normal(size=(16, 3))
    costs = 2 + features @ generator.normal(size=(3, 2))
    data = Dataset.solve(problem, features, costs, progress=False)
    net = make_model(data.features, 2, seed=0)
    fit(net, make_loss("map-dc", problem, data, p_solve=0.5), data, epochs=3, batch_size=4, progress=False)
    return torch.nn.utils.parameters_to_vector(net.parameters()).detach()


NAMES = ("knapsack", "equalities", "maximization with a constant")


@pytest.fixture(scope="module")
def by_mps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, torch.Tensor]:
    """The weights of every model that is read from an MPS file."""
    return {name: weights(READERS["mps"](MODELS[name], tmp_path_factory.mktemp("mps")), 0.0) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("library", [library for library in READERS if library != "mps"])
def test_training_through_every_reader_gives_the_same_weights(library, name, tmp_path, by_mps):
    model = MODELS[name]
    constant = model.constant if library == "linopy" else 0.0
    assert torch.equal(weights(READERS[library](model, tmp_path), constant), by_mps[name])


def test_models_differ_in_their_weights(by_mps):
    assert not torch.equal(by_mps["knapsack"], by_mps["equalities"])
