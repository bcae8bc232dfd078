from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless.errors import InputError
from regretless.training.linear_model import find_linear
from regretless.training.models import make_model
from regretless.training.quadratic_model import with_quadratic_terms

from .test_linear_model import MODELS, X2


@pytest.mark.parametrize("name", [name for name in MODELS if "quadratic" not in name])
def test_a_quadratic_copy_predicts_what_the_linear_model_predicts(name):
    make, x = MODELS[name]
    model = make()
    wide = with_quadratic_terms(model, x)
    torch.testing.assert_close(wide(x), model(x))
    view, before = find_linear(wide), find_linear(model)
    assert view is not None
    assert before is not None
    assert view.terms is not None
    assert view.layer.in_features == 14
    assert before.terms is None


def test_the_linear_model_is_not_changed():
    model = make_model(X2, 5)
    before = model(X2)
    wide = with_quadratic_terms(model, X2)
    with torch.no_grad():
        for parameter in wide.parameters():
            parameter.add_(1.0)
    torch.testing.assert_close(model(X2), before)


@pytest.mark.parametrize("model", [make_model(X2, 5, kind="mlp"), make_model(X2, 5, kind="quadratic"), nn.ReLU()])
def test_other_models_are_refused(model):
    with pytest.raises(InputError, match="quadratic terms are added to linear models only"):
        with_quadratic_terms(model, X2)
