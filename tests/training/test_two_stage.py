from __future__ import annotations

import pytest
import torch

from regretless import Dataset, Problem, evaluate
from regretless.errors import InputError
from regretless.training import two_stage
from regretless.training.models import make_model
from regretless.training.two_stage import fit_two_stage


def data(n=80, d=4, power=1, noise=0.3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=d)
    x = torch.randn(n, 3, generator=generator)
    c = (x @ torch.randn(3, d, generator=generator)) ** power + noise * torch.randn(n, d, generator=generator)
    return problem, Dataset.solve(problem, x, c)


def test_a_linear_model_has_the_error_of_least_squares():
    problem, train = data()
    model = make_model(train.features, 4)
    fitted = fit_two_stage(model, train)
    design = torch.cat([train.features, torch.ones(80, 1)], dim=1).to(torch.float64)
    least = (design @ torch.linalg.lstsq(design, train.costs).solution - train.costs).square().mean()
    assert evaluate(model, train, problem).mse <= 1.01 * float(least)
    assert "closed form" in fitted.reason


@pytest.fixture
def few_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """For facts that do not need convergence, which takes hundreds of epochs."""
    monkeypatch.setattr(two_stage, "EPOCHS", 15)


def test_another_model_is_trained_until_its_held_out_error_no_longer_falls():
    problem, train = data(power=2, n=100, d=2)
    linear, mlp = (
        make_model(train.features, 2, costs=train.costs),
        make_model(train.features, 2, costs=train.costs, kind="mlp", hidden=16),
    )
    fit_two_stage(linear, train)
    fitted = fit_two_stage(mlp, train, progress=False)
    assert "held_out_error" in fitted.reason
    assert evaluate(mlp, train, problem).mse < 0.5 * evaluate(linear, train, problem).mse


def test_the_same_seed_gives_the_same_weights(few_epochs):
    _, train = data(power=2)
    a, b = (make_model(train.features, 4, kind="mlp", hidden=4) for _ in range(2))
    for model in (a, b):
        fit_two_stage(model, train, seed=3, progress=False)
    assert all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))


def test_small_costs_are_fitted_as_well_as_large_ones(few_epochs):
    problem, train = data(power=2, n=100, d=2)
    errors = []
    for unit in (1.0, 2.0**-14):
        scaled = Dataset(train.features, unit * train.costs, train.solutions)
        model = make_model(scaled.features, 2, costs=scaled.costs, kind="mlp", hidden=16)
        fit_two_stage(model, scaled, progress=False)
        errors.append(evaluate(model, scaled, problem).mse / unit**2)
    assert errors[1] == pytest.approx(errors[0], rel=0.02)


def test_labels_are_fitted_by_cross_entropy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(two_stage, "EPOCHS", 60)
    _, train = data()
    labels = Dataset(train.features, (train.costs > 0).to(torch.float64), train.solutions)
    model = torch.nn.Sequential(make_model(train.features, 4, seed=0), torch.nn.Sigmoid())
    fit_two_stage(model, labels, criterion="bce", progress=False)
    assert float(((model(labels.features) > 0.5) == (labels.costs > 0.5)).float().mean()) > 0.85


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": None}, "train must be a Dataset, got NoneType"),
        ({"train": data(n=12)[1][:0]}, "training needs data, got 0 instances"),
        ({"seed": "a"}, "seed must be an integer"),
        (
            {"train": Dataset([[1.0, 2.0, float("nan")]], torch.zeros(1, 4), torch.zeros(1, 4))},
            "features must be finite",
        ),
    ],
)
def test_arguments_that_cannot_work_are_refused(change, message):
    _, train = data(n=12)
    with pytest.raises(InputError, match=message):
        fit_two_stage(make_model(train.features, 4), **({"train": train} | change))


def test_a_layer_that_is_flattened_gets_the_error_of_least_squares_for_a_grid_of_costs():
    torch.manual_seed(0)
    x = torch.randn(30, 2, 3, 4, dtype=torch.float64)
    costs = (x @ torch.randn(4, dtype=torch.float64) + 2.0).flatten(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.Flatten())
    fit_two_stage(model, Dataset(x, costs, torch.zeros(30, 6)))
    assert torch.allclose(model(x.float()).double(), costs, atol=1e-4)
