"""Terms that a linear model may have beside its features: products, splines, and an intercept per variable."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence

import torch
from torch import Tensor, nn

from regretless.errors import InputError
from regretless.training.linear_model import LinearModel, find_linear
from regretless.training.models import Standardized
from regretless.training.scaling import CostScale
from regretless.training.terms import KNOTS, Intercepts, QuadraticTerms, SplineTerms, count_terms

Terms = tuple[str, ...]
TERMS: Terms = ("products", "splines", "intercepts")
# A stack holds some thousand copies of the weights: parameters, moments and snapshots of all settings and streams.
LARGEST = 50_000
# The two-stage fits decompose matrices with as many columns, one per fold of every part. Above this, they take longer
# than the rest of a search, as with the products of the 100 columns of a category.
MOST_INPUTS = 1000


def missing_terms(model: nn.Module) -> Terms:
    """Terms that a model can be given, whatever their number is: those that a linear model does not have."""
    view = find_linear(model)
    if view is None:
        return ()
    # A layer that is not shared has an intercept per variable already.
    return tuple(name for name in TERMS if name not in view.terms and (view.shared or name != "intercepts"))


def possible_terms(model: nn.Module, variables: int) -> Terms:
    """Terms that a search can try: those that a linear model does not have, where they are not too many."""
    view = find_linear(model)
    if view is None:
        return ()
    most = min(MOST_INPUTS, LARGEST // view.layer.out_features)
    fits = {
        "products": count_terms(view.plain_inputs) <= most,
        "splines": view.plain_inputs * (1 + KNOTS) <= most,
        "intercepts": variables <= LARGEST,
    }
    return tuple(name for name in missing_terms(model) if fits[name])


def default_terms(model: nn.Module, variables: int) -> Terms:
    """Terms that a search tries by default: all that are possible, but splines only for a layer that all costs share.

    Other layers have weights of their own for every cost, so that splines make a search much slower.
    """
    view = find_linear(model)
    found = possible_terms(model, variables)
    return tuple(name for name in found if name != "splines" or (view is not None and view.shared))


def forms_of(terms: Collection[str]) -> list[Terms]:
    """The sets of terms that models are tried with: none, products, these and intercepts, splines and intercepts.

    Products and splines both bend a function of the features, so they are tried one by one.

    >>> forms_of(["products", "splines", "intercepts"])
    [(), ('products',), ('products', 'intercepts'), ('splines', 'intercepts')]
    """
    steps = [name for name in ("products", "intercepts") if name in terms]
    forms = [tuple(steps[:count]) for count in range(len(steps) + 1)]
    if "splines" in terms:
        forms.append(tuple(name for name in ("splines", "intercepts") if name in terms))
    return forms


def checked_terms(given: str | Sequence[str]) -> Terms:
    """Terms by name, as a list, separated by commas, or ``"none"``.

    Raises:
        InputError: there is no such term.
    """
    names = given.split(",") if isinstance(given, str) else list(given)
    wanted = [name.strip() for name in names if name.strip() not in ("", "none")]
    if unknown := [name for name in wanted if name not in TERMS]:
        raise InputError(f"terms are {', '.join(TERMS)}, or 'none'; got {unknown[0]!r}")
    return tuple(name for name in TERMS if name in wanted)


def linear_model_for(model: nn.Module, terms: Collection[str]) -> LinearModel:
    """The linear layer of a model that these terms can be added to.

    Raises:
        InputError: the model is not linear, or its layer is not shared and has an intercept per variable already.
    """
    view = find_linear(model)
    if view is None:
        raise InputError("terms are added to linear models only: leave out terms, or give a linear model")
    if "intercepts" in terms and not view.shared:
        raise InputError("intercepts are for a layer that all variables share; this one has a constant for each")
    return view


def with_terms(model: nn.Module, features: Tensor, terms: Collection[str]) -> nn.Module:
    """Return a copy of a linear model that also has these terms, with weights of zero.

    Args:
        model: a linear model, which is not changed. Terms that it has already are left as they are.
        features: ``(n, ..., k)`` training features.
        terms: names out of ``TERMS``.

    Raises:
        InputError: see ``linear_model_for``.
    """
    made = copy.deepcopy(model)
    view = linear_model_for(made, terms)
    layer, products, splines, intercepts = view.layer, view.products, view.splines, view.intercepts
    plain = view.inputs(features.to(layer.weight))[..., : view.plain_inputs].detach().cpu()
    if "products" in terms and products is None:
        products = QuadraticTerms(plain).to(layer.weight)
        layer = _widened(layer, at=view.plain_inputs, by=products.width - products.features)
    if "splines" in terms and splines is None:
        splines = SplineTerms(plain).to(layer.weight)
        layer = _widened(layer, at=layer.in_features, by=splines.width)
    if "intercepts" in terms and intercepts is None:
        intercepts = Intercepts(plain.shape[1]).to(layer.weight)
    parts = [products, splines, layer, nn.Flatten() if view.shared else None, intercepts]
    inner = nn.Sequential(*(part for part in parts if part is not None))
    return _with_inner(made, inner, view)


def _widened(layer: nn.Linear, *, at: int, by: int) -> nn.Linear:
    """A layer with more inputs at a position, whose weights are zero."""
    wide, weight = copy.deepcopy(layer), layer.weight.detach()  # a new layer would draw from the global generator
    wide.in_features += by
    wide.weight = nn.Parameter(torch.cat([weight[:, :at], weight.new_zeros(len(weight), by), weight[:, at:]], dim=1))
    return wide


def _with_inner(model: nn.Module, inner: nn.Module, view: LinearModel) -> nn.Module:
    """The model with other layers inside of its scalings."""
    if view.features is None and view.costs is None:
        return inner
    outer = model.inner if isinstance(model, CostScale) and view.features is not None else model
    assert isinstance(outer, CostScale | Standardized)
    outer.inner = inner
    return model
