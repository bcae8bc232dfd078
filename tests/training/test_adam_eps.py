from __future__ import annotations

import pytest
import torch

from regretless import Dataset, Problem, train
from regretless.training.adam_eps import EPS, LEAST_EPS, eps_for, gradient_factor
from regretless.training.models import make_model


@pytest.mark.parametrize("deviation", [0.01, 1.0, 1e9])
def test_it_is_that_of_torch_for_usual_costs(deviation: float) -> None:
    assert eps_for(deviation) == EPS == 1e-8


def test_it_falls_with_the_square_of_small_costs_down_to_what_single_precision_holds() -> None:
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
