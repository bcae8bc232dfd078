"""Ready-made models over standardized features: a linear layer, also of products or splines, or a small perceptron."""

from __future__ import annotations

from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from regretless.errors import InputError
from regretless.number_checks import LARGEST_SEED, check_integer
from regretless.tensors import features_tensor, tensor
from regretless.training.random_draws import seeded_weights
from regretless.training.scaling import moments, varies, with_cost_scale
from regretless.training.terms import KNOTS, Intercepts, QuadraticTerms, SplineTerms, count_terms

Kind = Literal["linear", "quadratic", "splines", "mlp"]
KINDS = get_args(Kind)


class Standardized(nn.Module):
    """Scale features by the mean and deviation of the training data, which are saved with the weights.

    Args:
        features: ``(n, ..., k)`` training features.
        inner: the model of the scaled features.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, features: Tensor, inner: nn.Module) -> None:
        super().__init__()
        _, mean, scale = moments(features)  # a constant feature becomes zero and not infinite
        self.register_buffer("mean", mean.to(torch.get_default_dtype()))
        self.register_buffer("scale", scale.to(torch.get_default_dtype()))
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        """Predict from scaled features."""
        out: Tensor = self.inner(self.scaled(x))
        return out

    def scaled(self, x: Tensor) -> Tensor:
        """Features on the scale of the training data."""
        return (x - self.mean) / self.scale


class SharedLinear(nn.Module):
    """One linear layer shared by all slots: ``(batch, slots, features) -> (batch, slots)`` costs."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(features, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Predict one cost per slot."""
        # A product with one vector has a shorter graph than nn.Linear on three dimensions, or than x @ weight[0].
        layer = self.linear
        weight, bias = layer.weight, layer.bias  # a module finds its parameters slowly
        rows = x.reshape(-1, layer.in_features)
        if bias is None or not rows.shape[0]:  # ``addmv`` of no rows is the bias
            costs = torch.mv(rows, weight.view(-1))
        else:
            costs = torch.addmv(bias, rows, weight.view(-1))
        return costs.view(*x.shape[:-1])


def make_model(
    features: Any,
    dimension: int,
    *,
    costs: Any = None,
    kind: Kind = "linear",
    hidden: int = 32,
    intercepts: bool = False,
    seed: int = 0,
) -> nn.Module:
    """Build a model for features per instance ``(n, k)`` or per variable ``(n, d, k)``.

    With features per variable one small model is shared by all variables. With training costs the model predicts on
    their scale, so that one learning rate serves cents and millions. A feature that is constant in training has no
    effect on the predictions.

    Args:
        features: training features, for their shape, mean and deviation: a tensor, array, nested list or data frame.
        dimension: number d of costs.
        costs: ``(n, d)`` training costs, for their mean and deviation.
        kind: ``"linear"``, ``"quadratic"`` (linear in the features, their squares and products), ``"splines"`` (a sum
            of piecewise linear functions of the features) or ``"mlp"`` (one hidden layer).
        hidden: units of that layer.
        intercepts: whether every variable has a constant of its own beside the shared model, for features per variable.
        seed: of the initial weights; the global generator does not change.
    """
    if kind not in KINDS:
        raise InputError(f"model must be one of {', '.join(KINDS)}, got {kind!r}")
    check_integer("hidden", hidden, least=1)
    check_integer("dimension", dimension, least=1)
    seed = check_integer("seed", seed, least=0, most=LARGEST_SEED)
    features = features_tensor(features)
    costs = None if costs is None else tensor("costs", costs)
    if (features.ndim == 3 and features.shape[1] != dimension) or features.ndim not in (2, 3):
        raise InputError(
            f"features must have shape (n, k) for instances or (n, {dimension}, k) for variables, "
            f"got {tuple(features.shape)}; for other shapes, such as images, give a torch module of your own"
        )
    if not len(features):
        raise InputError("a model needs training features for their mean and deviation, got 0 instances")
    if not features.shape[-1]:
        raise InputError(
            f"a model needs at least one column of features, got shape {tuple(features.shape)}: give a column of ones "
            "where nothing is known, for the same prediction every time"
        )
    if costs is not None and (costs.ndim != 2 or costs.shape[1] != dimension or not len(costs)):
        raise InputError(f"costs must have shape (n, {dimension}), got {tuple(costs.shape)}")
    shared = features.ndim == 3
    if intercepts and not shared:
        raise InputError(
            f"intercepts are for features per variable, (n, {dimension}, k); with features per instance every cost has "
            "a constant already: leave them out"
        )
    k, out = features.shape[-1], 1 if shared else dimension
    with seeded_weights(seed):
        inputs = {"quadratic": count_terms(k), "splines": k * (1 + KNOTS)}.get(kind, k)
        first = nn.Linear(inputs, hidden if kind == "mlp" else out)
        layers: list[nn.Module] = [first, nn.ReLU(), nn.Linear(hidden, out)] if kind == "mlp" else [first]
    if shared:
        layers.append(nn.Flatten())
    if intercepts:
        layers.append(Intercepts(dimension))
    inner = nn.Sequential(*layers)
    model = Standardized(features, inner)
    # Training says nothing about a constant feature, so its initial weight would stay, and count where it changes.
    constant = ~varies(features.reshape(-1, k).to(torch.float64), dim=0)
    with torch.no_grad():
        first.weight[:, :k][:, constant.to(first.weight.device)] = 0.0
    if kind in ("quadratic", "splines"):
        terms = QuadraticTerms if kind == "quadratic" else SplineTerms
        inner.insert(0, terms(model.scaled(features.to(model.mean))))
    return model if costs is None else with_cost_scale(model, costs, shared=shared)
