from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.training.spline_terms import KNOTS, SplineTerms

X = torch.randn(40, 3, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 100.0, 0.01]) + 5


def test_features_are_followed_by_what_exceeds_the_quantiles_of_each():
    found = SplineTerms(X)(X)
    z = ((X - X.mean(dim=0)) / X.std(dim=0, correction=0)).numpy()
    shares = np.arange(1, KNOTS + 1) / (KNOTS + 1)
    expected = [np.maximum(z[:, [j]] - np.quantile(z[:, j], shares), 0.0) for j in range(3)]
    torch.testing.assert_close(found[:, :3], X)
    np.testing.assert_allclose(found[:, 3:].numpy(), np.concatenate(expected, axis=1), atol=1e-3)


@pytest.mark.parametrize("features", [1, 2, 7])
def test_the_number_of_terms_is_counted(features):
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


def test_saved_terms_are_the_same_terms():
    terms, other = SplineTerms(X), SplineTerms(torch.zeros(1, 3))
    other.load_state_dict(terms.state_dict())
    torch.testing.assert_close(other(X), terms(X))
