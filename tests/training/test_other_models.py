from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from regretless.errors import InputError
from regretless.training import predict
from regretless.training.other_models import as_module

X2, X3 = torch.arange(6.0).reshape(3, 2), torch.arange(12.0).reshape(2, 3, 2)


class Sums:
    """A regressor of one target: the sum of the features of a row."""

    def predict(self, X):
        assert isinstance(X, np.ndarray)
        assert X.ndim == 2
        return X.sum(axis=1)


def test_a_regressor_predicts_one_cost_per_row_of_features_of_variables():
    assert torch.equal(predict(Sums(), X3), X3.sum(dim=2))


def test_a_regressor_of_one_target_predicts_one_cost_per_instance():
    assert torch.equal(predict(Sums(), X2), X2.sum(dim=1, keepdim=True))


def test_a_regressor_of_several_targets_predicts_all_costs():
    class Twice(Sums):
        def predict(self, X):
            return 2 * X

    assert torch.equal(predict(Twice(), X2), 2 * X2)


def test_a_function_gets_the_features_as_they_are():
    assert torch.equal(predict(lambda x: x.sum(axis=-1), X3), X3.sum(dim=2))
    assert torch.equal(predict(lambda x: (x + 1).tolist(), X2), X2 + 1)


def test_fitted_models_of_scikit_learn_are_taken():
    linear = pytest.importorskip("sklearn.linear_model")
    features, costs = np.random.default_rng(0).normal(size=(20, 3)), np.arange(40.0).reshape(20, 2)
    fitted = linear.LinearRegression().fit(features, costs)
    torch.testing.assert_close(predict(fitted, torch.from_numpy(features)), torch.from_numpy(fitted.predict(features)))


def test_a_torch_module_stays_as_it_is():
    model = nn.Linear(2, 2)
    assert as_module(model) is model


@pytest.mark.parametrize("model", [3, "linear", None, object()])
def test_anything_else_is_refused(model):
    with pytest.raises(InputError, match=r"model must be a torch module, a fitted regressor .* got"):
        predict(model, X2)


def test_a_class_in_place_of_a_fitted_regressor_is_refused():
    with pytest.raises(InputError, match="got the class Sums"):
        predict(Sums, X2)


def test_an_error_of_the_regressor_names_it():
    class Fails:
        def predict(self, X):
            raise ValueError("X has 2 features, but it expects 5")

    message = r"the model Fails cannot predict from features of shape \(3, 2\): ValueError: X has 2 features"
    with pytest.raises(InputError, match=message):
        predict(Fails(), X2)
