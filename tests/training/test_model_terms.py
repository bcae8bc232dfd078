from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless.errors import InputError
from regretless.training.linear_model import find_linear
from regretless.training.model_terms import checked_terms, default_terms, forms_of, possible_terms, with_terms
from regretless.training.models import SharedLinear, make_model

from .test_linear_model import COSTS, MODELS, X2, X3

BOTH = ("products", "intercepts")
ALL = ("products", "splines", "intercepts")


@pytest.mark.parametrize("terms", [(), ("products",), ("splines",), ("intercepts",), BOTH, ALL])
@pytest.mark.parametrize("name", MODELS)
def test_a_copy_with_terms_predicts_what_the_model_predicts(name, terms):
    make, x = MODELS[name]
    model = make()
    before = find_linear(model)
    if "intercepts" in terms and not before.shared:
        with pytest.raises(InputError, match="for a layer that all variables share"):
            with_terms(model, x, terms)
        return
    wide = with_terms(model, x, terms)
    torch.testing.assert_close(wide(x), model(x), rtol=1e-4, atol=1e-3)  # in another order of summation
    view = find_linear(wide)
    assert set(view.terms) == {*before.terms, *terms}
    assert view.layer.in_features == 4 + 10 * ("products" in view.terms) + 24 * ("splines" in view.terms)


def test_a_model_with_splines_keeps_their_weights_when_it_gets_products():
    model = make_model(X3, 5, costs=COSTS, kind="splines")
    wide = with_terms(model, X3, ALL)
    assert find_linear(wide).terms == ALL
    torch.testing.assert_close(wide(X3 * 2), model(X3 * 2), rtol=1e-3, atol=1e-3)


def test_the_model_is_not_changed():
    model = make_model(X3, 5, costs=COSTS, kind="quadratic", intercepts=True)
    before = model(X3)
    for terms in ((), BOTH, ALL):
        wide = with_terms(model, X3, terms)
        with torch.no_grad():
            for parameter in wide.parameters():
                parameter.add_(1.0)
    torch.testing.assert_close(model(X3), before)


@pytest.mark.parametrize("model", [make_model(X2, 5, kind="mlp"), nn.ReLU()])
def test_other_models_are_refused(model):
    with pytest.raises(InputError, match="terms are added to linear models only"):
        with_terms(model, X2, ["products"])


def test_terms_fit_linear_models_of_moderate_size_that_do_not_have_them():
    assert possible_terms(nn.Linear(20, 30), 30) == ("products", "splines")
    assert possible_terms(nn.Linear(100, 30), 30) == ("splines",)
    assert possible_terms(nn.Linear(20, 3000), 3000) == ()
    assert possible_terms(nn.Linear(500, 30), 30) == ()
    assert possible_terms(make_model(X2, 5, kind="quadratic"), 5) == ("splines",)
    assert possible_terms(make_model(X2, 5, kind="splines"), 5) == ("products",)
    assert possible_terms(make_model(X2, 5, kind="mlp"), 5) == ()
    assert possible_terms(make_model(X3, 5), 5) == ALL
    assert possible_terms(make_model(X3, 5, intercepts=True), 5) == ("products", "splines")
    assert possible_terms(make_model(X3, 5), 60_000) == ("products", "splines")
    shared = {k: possible_terms(SharedLinear(k), 5) for k in (43, 44, 142, 143)}  # 989 products, 994 splines
    assert shared == {43: ALL, 44: ALL[1:], 142: ALL[1:], 143: ("intercepts",)}


def test_splines_are_tried_by_default_where_all_variables_share_a_layer():
    assert default_terms(make_model(X3, 5), 5) == ALL
    assert default_terms(make_model(X2, 5), 5) == ("products",)
    assert default_terms(make_model(X2, 5, kind="mlp"), 5) == ()


@pytest.mark.parametrize(
    ("terms", "forms"),
    [
        ((), [()]),
        (BOTH, [(), ("products",), BOTH]),
        (("splines",), [(), ("splines",)]),
        (("products", "splines"), [(), ("products",), ("splines",)]),
        (("splines", "intercepts"), [(), ("intercepts",), ("splines", "intercepts")]),
    ],
)
def test_products_and_splines_are_tried_one_by_one(terms, forms):
    assert forms_of(terms) == forms


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("none", ()),
        ((), ()),
        ("intercepts, products", BOTH),
        ("intercepts,splines,products", ALL),
        (["products"], ("products",)),
        ("", ()),
    ],
)
def test_terms_are_named_in_a_list_or_a_text(given, found):
    assert checked_terms(given) == found


def test_an_unknown_term_is_refused():
    with pytest.raises(InputError, match="terms are products, splines, intercepts, or 'none'; got 'cubes'"):
        checked_terms("products,cubes")
