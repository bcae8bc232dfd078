from __future__ import annotations

import torch

from regretless.training.cost_scale import cost_unit, with_cost_scale

COSTS = torch.tensor([[100.0, 2000.0], [300.0, 4000.0]], dtype=torch.float64)


def test_predictions_have_the_mean_and_scale_of_the_costs() -> None:
    model = with_cost_scale(torch.nn.Identity(), COSTS, shared=False)
    assert torch.allclose(model(torch.zeros(1, 2)), torch.tensor([[200.0, 3000.0]]))
    step = model(torch.ones(1, 2)) - model(torch.zeros(1, 2))
    assert torch.allclose(step, COSTS.std(correction=0).float().expand(1, 2))


def test_a_shared_model_has_one_mean() -> None:
    model = with_cost_scale(torch.nn.Identity(), COSTS, shared=True)
    assert torch.allclose(model(torch.zeros(1, 2)), torch.full((1, 2), 1600.0))


def test_costs_that_never_change_have_a_scale_of_one() -> None:
    model = with_cost_scale(torch.nn.Identity(), torch.full((3, 2), 5.0), shared=False)
    assert model(torch.ones(1, 2)).tolist() == [[6.0, 6.0]]


def test_the_unit_of_a_model_is_its_scale_or_one() -> None:
    layers = torch.nn.Linear(3, 2)
    assert cost_unit(with_cost_scale(layers, 1e-6 * COSTS, shared=False)) == float(
        (1e-6 * COSTS).std(correction=0).float()
    )
    assert cost_unit(layers) == 1.0
