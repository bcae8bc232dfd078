"""A model that cannot be trained is refused before anything is solved, whatever trains it."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from regretless import Dataset, Problem, SolutionCache, auto, fit
from regretless.errors import InputError
from regretless.losses import MAP
from regretless.training.direct import direct
from regretless.training.linear_model import find_linear
from regretless.training.model_check import check_device, check_model, initial_model, trained_parameters
from regretless.training.two_stage import fit_two_stage

X = torch.randn(12, 3, generator=torch.Generator().manual_seed(0))


class Pair(nn.Linear):
    def forward(self, x):
        return super().forward(x), 0


BAD = {
    "nothing": (nn.Flatten(), "the model Flatten has no parameters to train"),
    "frozen": (nn.Linear(3, 4).requires_grad_(False), "no parameters to train: all of them are frozen"),
    "features": (nn.Linear(2, 4), "cannot predict from features of shape \\(2, 3\\): RuntimeError"),
    "costs": (nn.Linear(3, 5), "must predict 4 costs per instance.* shape \\(2, 4\\), got \\(2, 5\\)"),
    "two results": (Pair(3, 4), "Pair must return the predicted costs as one tensor, got tuple: return only the costs"),
}


@pytest.fixture
def problem():
    return Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=4)


@pytest.fixture
def data(problem):
    return Dataset.solve(problem, X, X @ torch.randn(3, 4, generator=torch.Generator().manual_seed(1)))


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("how", ["auto", "two-stage", "fit", "direct"])
def test_a_model_that_cannot_be_trained_is_refused(problem, data, what, how):
    if how == "direct":
        pytest.importorskip("cma", reason="cma is not installed")
    model, message = BAD[what]
    before = problem.statistics.solves
    jobs = {
        "auto": lambda: auto(problem, data, model, progress=False),
        "two-stage": lambda: fit_two_stage(model, data, progress=False),
        "fit": lambda: fit(model, MAP(SolutionCache(problem, data.solutions)), data, epochs=1, progress=False),
        "direct": lambda: direct(model, problem, data, generations=1, progress=False),
    }
    with pytest.raises(InputError, match=message):
        jobs[how]()
    assert problem.statistics.solves == before


def test_a_model_that_fits_is_left_as_it_is(data):
    model = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 4)).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    check_model(model, data.features, 4)
    check_model(model, data.features[:1], 4)
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize("batch_size", [11, 5])
def test_batch_normalization_never_trains_on_a_single_instance(problem, data, batch_size):
    sizes = []
    model = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 4))
    model.register_forward_pre_hook(lambda module, given: sizes.append(len(given[0])) if module.training else None)
    fit(model, MAP(SolutionCache(problem, data.solutions)), data, epochs=1, batch_size=batch_size, progress=False)
    assert sizes == ([12] if batch_size == 11 else [5, 5, 2])


def test_frozen_parameters_are_not_trained(problem, data):
    pytest.importorskip("cma", reason="cma is not installed")
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 4))
    model[0].requires_grad_(False)
    assert [tuple(parameter.shape) for parameter in trained_parameters(model)] == [(4, 5), (4,)]
    frozen, trained = model[0].weight.clone(), model[2].weight.clone()
    direct(model, problem, data, generations=2, progress=False)
    assert torch.equal(model[0].weight, frozen)
    assert not torch.equal(model[2].weight, trained)


def test_a_device_without_double_precision_is_refused():
    with pytest.raises(InputError, match="no double precision"):
        check_device(torch.device("mps"))
    for kind in ("cpu", "cuda"):
        check_device(torch.device(kind))


DATA = Dataset(torch.randn(6, 3), torch.randn(6, 2).double(), torch.zeros(6, 2).double())


def test_a_model_is_returned_as_it_is_and_a_function_is_called_with_the_seed():
    model = nn.Linear(3, 2)
    assert initial_model(model, DATA, 2, 7) is model
    assert initial_model(lambda seed: nn.Linear(3, seed), DATA, 2, 7).out_features == 7


def test_the_weights_of_a_function_that_ignores_its_seed_follow_it():
    before = torch.get_rng_state()
    first, second, other = (initial_model(lambda _: nn.Linear(3, 2), DATA, 2, seed).weight for seed in (1, 1, 2))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_default_is_linear():
    assert find_linear(initial_model(None, DATA, 2, 0)) is not None


class Net(nn.Linear):
    """A class that takes a number, which is not a seed."""

    def __init__(self, features: int = 3) -> None:
        super().__init__(features, 2)


@pytest.mark.parametrize("given", [nn.Linear, Net])
def test_a_class_is_named_and_not_called_with_the_seed(given):
    with pytest.raises(InputError, match=rf"got the class {given.__name__}: pass an object of it, {given.__name__}\("):
        initial_model(given, DATA, 2, 3)


@pytest.mark.parametrize(
    ("given", "what"), [("linear", "got 'linear'"), (lambda seed: "x", "returned 'x'"), (3, "got 3")]
)
def test_anything_else_is_named(given, what):
    with pytest.raises(InputError, match=f"model must be a torch module.* {what}"):
        initial_model(given, DATA, 2, 0)


def test_training_under_inference_mode_is_refused_with_the_reason(problem, data):
    with torch.inference_mode():
        created = nn.Linear(3, 4)
        for train in (lambda: fit(created, MAP(problem), data), lambda: auto(problem, data)):
            with pytest.raises(InputError, match=r"torch.inference_mode\(\) turns off the gradients"):
                train()
    with pytest.raises(InputError, match=r"Linear was created under torch.inference_mode\(\).*copy.deepcopy"):
        fit(created, MAP(problem), data)
    fit(copy.deepcopy(created), MAP(problem), data, epochs=1, progress=False)
