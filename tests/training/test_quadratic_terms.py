from __future__ import annotations

import pytest
import torch

from regretless.training.quadratic_terms import QuadraticTerms, count_terms

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
