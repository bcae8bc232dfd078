from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless import Dataset, Problem, fit, make_model
from regretless.losses import TwoStage
from regretless.training.terms import KNOTS, Intercepts, QuadraticTerms, SplineTerms, count_terms
from regretless.training.two_stage import fit_two_stage

X = torch.randn(40, 3, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 100.0, 0.01]) + 5


def test_features_are_followed_by_products_of_standardized_features():
    found = QuadraticTerms(X)(X)
    z = (X - X.mean(dim=0)) / X.std(dim=0, correction=0)
    expected = [z[:, i] * z[:, j] for i in range(3) for j in range(i, 3)]
    torch.testing.assert_close(found, torch.cat([X, torch.stack(expected, dim=1)], dim=1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("features", [1, 2, 7])
def test_the_number_of_terms_is_counted(features):
    terms = QuadraticTerms(torch.randn(5, 2, features))
    assert terms.width == count_terms(features) == terms(torch.randn(4, 2, features)).shape[-1]


def test_beyond_the_training_data_only_the_features_themselves_grow():
    terms = QuadraticTerms(X)
    high = terms(X.amax(dim=0, keepdim=True))
    beyond = terms(X.amax(dim=0, keepdim=True) * 1000)
    torch.testing.assert_close(beyond[:, 3:], high[:, 3:])
    assert (beyond[:, :3] > high[:, :3]).all()


def test_a_constant_feature_has_products_of_zero():
    terms = QuadraticTerms(torch.cat([X[:, :1], torch.full((40, 1), 3.0)], dim=1))
    assert terms(torch.tensor([[1.0, 7.0]]))[0, 3:].tolist() == [0.0, 0.0]


def test_saved_terms_are_the_same_terms():
    terms, other = QuadraticTerms(X), QuadraticTerms(torch.zeros(1, 3))
    other.load_state_dict(terms.state_dict())
    torch.testing.assert_close(other(X), terms(X))


def test_features_are_followed_by_what_exceeds_the_quantiles_of_each():
    found = SplineTerms(X)(X)
    z = ((X - X.mean(dim=0)) / X.std(dim=0, correction=0)).numpy()
    shares = np.arange(1, KNOTS + 1) / (KNOTS + 1)
    expected = [np.maximum(z[:, [j]] - np.quantile(z[:, j], shares), 0.0) for j in range(3)]
    torch.testing.assert_close(found[:, :3], X)
    np.testing.assert_allclose(found[:, 3:].numpy(), np.concatenate(expected, axis=1), atol=1e-3)


@pytest.mark.parametrize("features", [1, 2, 7])
def test_the_number_of_splines_is_counted(features):
    terms = SplineTerms(torch.randn(5, 2, features))
    assert terms.width == KNOTS * features == terms(torch.randn(4, 2, features)).shape[-1] - features


def test_inputs_behind_the_features_are_passed_on():
    more = torch.randn(40, 4)
    found = SplineTerms(X)(torch.cat([X, more], dim=1))
    torch.testing.assert_close(found[:, 3:7], more)
    torch.testing.assert_close(found[:, 7:], SplineTerms(X)(X)[:, 3:])


def test_values_that_are_frequent_do_not_draw_the_knots_together():
    often = torch.cat([torch.zeros(1000, 1), torch.arange(1.0, 9.0)[:, None]])
    knots = SplineTerms(often).knots
    assert len(knots.unique()) == KNOTS
    rare = SplineTerms(torch.arange(9.0)[:, None])
    torch.testing.assert_close(SplineTerms(often)(often[-8:])[:, 1:] > 0, rare(often[-8:])[:, 1:] > 0)


@pytest.mark.parametrize("values", [[3.0], [0.0, 1.0]])
def test_a_feature_with_one_or_two_values_has_terms_of_zero(values):
    x = torch.tensor(values).repeat(20)[:, None]
    assert SplineTerms(x)(torch.tensor([[-100.0], [0.5], [100.0]]))[:, 1:].abs().max() == 0.0


def test_beyond_the_training_data_the_last_slope_goes_on():
    terms = SplineTerms(X)
    high, step = X.amax(dim=0, keepdim=True), torch.tensor([[1.0, 100.0, 0.01]])
    first, second = terms(high + step) - terms(high), terms(high + 2 * step) - terms(high + step)
    torch.testing.assert_close(first, second, rtol=1e-3, atol=1e-3)
    assert (first > 0).all()


def test_saved_splines_are_the_same_splines():
    terms, other = SplineTerms(X), SplineTerms(torch.zeros(1, 3))
    other.load_state_dict(terms.state_dict())
    torch.testing.assert_close(other(X), terms(X))


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
