from __future__ import annotations

import pytest
import torch

from regretless import Dataset, Problem, train
from regretless.training.models import make_model
from regretless.training.scaling import (
    EPS,
    LEAST_EPS,
    cost_unit,
    deviation_or_one,
    eps_for,
    gradient_factor,
    moments,
    with_cost_scale,
)


def test_it_is_the_deviation_over_a_dimension_or_over_all() -> None:
    values = torch.tensor([[1.0, 5.0], [3.0, 9.0]], dtype=torch.float64)
    assert deviation_or_one(values, dim=0).tolist() == [1.0, 2.0]
    assert float(deviation_or_one(values)) == float(values.std(correction=0))


def test_what_is_constant_has_deviation_one() -> None:
    values = torch.tensor([[2.0, 5.0], [2.0, 9.0]])
    assert deviation_or_one(values, dim=0).tolist() == [1.0, 2.0]
    assert float(deviation_or_one(torch.full((3, 2), 7.0))) == 1.0


@pytest.mark.parametrize("value", [0.0, 0.1, -1e8 / 3, 1e-5 / 3, 1e30])
def test_what_is_constant_has_deviation_one_whatever_its_size(value: float) -> None:
    values = torch.full((97, 1), value, dtype=torch.float64)
    assert deviation_or_one(values, dim=0).tolist() == [1.0]
    assert float(deviation_or_one(values)) == 1.0
    assert float(make_model(values, 2).scale) == 1.0


@pytest.mark.parametrize("size", [1e-20, 1.0, 1e20])
def test_the_deviation_follows_the_unit(size: float) -> None:
    values = torch.tensor([[1.0], [1.1], [1.2]], dtype=torch.float64)
    assert float(deviation_or_one(size * values)) == pytest.approx(size * float(deviation_or_one(values)))


def test_what_the_precision_of_models_does_not_distinguish_is_constant() -> None:
    values = 1.0 + torch.tensor([0.0, 1e-10], dtype=torch.float64)
    assert float(deviation_or_one(values)) == 1.0
    try:
        torch.set_default_dtype(torch.float64)
        assert float(deviation_or_one(values)) == pytest.approx(5e-11, rel=1e-3)
    finally:
        torch.set_default_dtype(torch.float32)


def test_moments_are_those_of_the_columns_over_all_rows() -> None:
    rows, mean, scale = moments(torch.tensor([[[1.0, 7.0]], [[5.0, 7.0]]]))
    assert rows.dtype == torch.float64
    assert (rows.tolist(), mean.tolist(), scale.tolist()) == ([[1.0, 7.0], [5.0, 7.0]], [3.0, 7.0], [2.0, 1.0])


COSTS = torch.tensor([[100.0, 2000.0], [300.0, 4000.0]], dtype=torch.float64)


def test_predictions_have_the_mean_and_scale_of_the_costs() -> None:
    model = with_cost_scale(torch.nn.Identity(), COSTS, shared=False)
    assert torch.allclose(model(torch.zeros(1, 2)), torch.tensor([[200.0, 3000.0]]))
    step = model(torch.ones(1, 2)) - model(torch.zeros(1, 2))
    assert torch.allclose(step, COSTS.std(correction=0).float().expand(1, 2))


def test_the_unit_of_a_model_is_its_scale_or_one() -> None:
    layers = torch.nn.Linear(3, 2)
    assert cost_unit(with_cost_scale(layers, 1e-6 * COSTS, shared=False)) == float(
        (1e-6 * COSTS).std(correction=0).float()
    )
    assert cost_unit(layers) == 1.0


def test_a_shared_model_has_one_mean() -> None:
    model = with_cost_scale(torch.nn.Identity(), COSTS, shared=True)
    assert torch.allclose(model(torch.zeros(1, 2)), torch.full((1, 2), 1600.0))


def test_costs_that_never_change_have_a_scale_of_one() -> None:
    model = with_cost_scale(torch.nn.Identity(), torch.full((3, 2), 5.0), shared=False)
    assert model(torch.ones(1, 2)).tolist() == [[6.0, 6.0]]


@pytest.mark.parametrize("deviation", [0.01, 1.0, 1e9])
def test_the_constant_of_adam_is_that_of_torch_for_usual_costs(deviation: float) -> None:
    assert eps_for(deviation) == EPS == 1e-8


def test_the_constant_of_adam_falls_with_the_square_of_small_costs_down_to_what_single_precision_holds() -> None:
    assert eps_for(1e-5) == pytest.approx(1e-6 * EPS)
    assert eps_for(1e-30) == LEAST_EPS


def test_the_factor_is_one_for_usual_costs_and_otherwise_a_power_of_two_near_their_reciprocal() -> None:
    assert {gradient_factor(deviation) for deviation in (1e-8, 1e-3, 1.0, 1e8, 0.0, float("inf"))} == {1.0}
    for deviation in (1e-20, 1e-9, 1e9, 1e30):
        factor = gradient_factor(deviation)
        assert 0.7 < factor * deviation < 1.5
        assert torch.frexp(torch.tensor(factor)).mantissa == 0.5


@pytest.mark.parametrize("method", ["two-stage", "pointwise", "pairwise-difference"])
@pytest.mark.parametrize("power", [-40, 40])
def test_squared_errors_of_extreme_costs_train_as_those_of_usual_ones(method: str, power: int) -> None:
    problem = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
    features = torch.linspace(-1, 1, 12)[:, None]
    costs = torch.cat([features, -features, features**2], dim=1).to(torch.float64)
    found = []
    for unit in (1.0, 2.0**power):
        data = Dataset.solve(problem, features, unit * costs)
        model = make_model(features, 3, costs=data.costs)
        train(problem, data, model, method=method, epochs=3, lr=0.1, batch_size=4, progress=False)
        found.append(model(features).detach() / unit)
    assert torch.allclose(found[0], found[1], atol=1e-3)
    start = make_model(features, 3, costs=costs)(features).detach()
    assert (found[1] - start).abs().max() > 0.3
