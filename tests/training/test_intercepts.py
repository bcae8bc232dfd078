from __future__ import annotations

import torch

from regretless import Dataset, Problem, fit, make_model
from regretless.losses import TwoStage
from regretless.training.intercepts import Intercepts
from regretless.training.two_stage import fit_two_stage


def data(n=40, d=5):
    """Costs that follow one feature with the same slope, from a level of their own."""
    chance = torch.Generator().manual_seed(0)
    x = torch.randn(n, d, 1, generator=chance, dtype=torch.float64) + torch.arange(d)[:, None]
    levels = torch.tensor([3.0, -2.0, 7.0, 0.0, 1.0], dtype=torch.float64)
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=d)
    return Dataset.solve(problem, x.float(), 2.0 * x[:, :, 0] + levels), levels


def test_each_cost_gets_its_own_constant():
    layer = Intercepts(3)
    with torch.no_grad():
        layer.intercepts.copy_(torch.tensor([1.0, 2.0, 3.0]))
    assert layer(torch.zeros(2, 3)).tolist() == [[1.0, 2.0, 3.0]] * 2
    layer(torch.zeros(2, 3)).sum().backward()
    assert layer.intercepts.grad.tolist() == [2.0, 2.0, 2.0]


def test_two_stage_finds_levels_that_a_shared_layer_cannot():
    train, _ = data()
    for intercepts, error in ((False, 1.0), (True, 0.0)):
        model = make_model(train.features, 5, costs=train.costs, intercepts=intercepts)
        fit_two_stage(model, train, progress=False)
        found = float((model(train.features) - train.costs).detach().square().mean())
        assert found > error if not intercepts else found < 1e-6


def test_gradient_descent_trains_them_as_autograd_does():
    """``fit`` goes around autograd for linear models; a hook sends it through autograd."""
    train, _ = data()
    found = []
    for hooked in (False, True):
        model = make_model(train.features, 5, costs=train.costs, intercepts=True, seed=1)
        if hooked:
            model.register_forward_hook(lambda *_: None)
        fit(model, TwoStage(), train, epochs=3, lr=0.1, batch_size=8, progress=False)
        found.append(model)
    for one, other in zip(*(model.parameters() for model in found), strict=True):
        assert one.abs().sum() > 0
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
