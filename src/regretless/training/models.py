"""Models for users who bring none: a linear layer or a small perceptron, over standardised features or bare ones."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from regretless.errors import InputError
from regretless.training.cost_scale import with_cost_scale

Kind = Literal["linear", "mlp"]


class Standardised(nn.Module):
    """Scale features by the mean and deviation of the training data, which are kept with the weights.

    Args:
        features: ``(n, ..., k)`` training features.
        inner: what comes after the scaling.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, features: Tensor, inner: nn.Module) -> None:
        super().__init__()
        flat = features.reshape(-1, features.shape[-1]).to(torch.float64)
        deviation = flat.std(dim=0, correction=0)
        dtype = torch.get_default_dtype()
        self.register_buffer("mean", flat.mean(dim=0).to(dtype))
        # A constant feature says nothing: it becomes zero and not infinite.
        self.register_buffer("scale", torch.where(deviation > 1e-12, deviation, torch.ones_like(deviation)).to(dtype))
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        """Scale and hand on."""
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
        """Predict one cost a slot."""
        return slot_costs(x, self.linear.weight, self.linear.bias)


def slot_costs(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """One cost a slot, ``(batch, slots, features) -> (batch, slots)``."""
    # A plain product is faster than nn.Linear on three dimensions, and the step is all overhead at this size.
    costs = x @ weight[0]
    return costs if bias is None else costs + bias


def make_model(
    features: Tensor,
    dimension: int,
    *,
    costs: Tensor | None = None,
    kind: Kind = "linear",
    hidden: int = 32,
    seed: int = 0,
) -> nn.Module:
    """Build a model for features of an instance ``(n, k)`` or of its variables ``(n, d, k)``.

    With features of the variables one small model is shared by all of them. With training costs the model predicts on
    their scale, so that one learning rate serves cents and millions.

    Args:
        features: training features, for their shape, mean and deviation.
        dimension: number d of costs.
        costs: ``(n, d)`` training costs, for their mean and deviation.
        kind: ``"linear"`` or ``"mlp"`` (one hidden layer).
        hidden: units of that layer.
        seed: of the first weights; the global generator is left as it was.
    """
    if kind not in ("linear", "mlp"):
        raise InputError(f"model must be 'linear' or 'mlp', got {kind!r}")
    if hidden < 1:
        raise InputError(f"hidden must be at least 1, got {hidden}")
    if (features.ndim == 3 and features.shape[1] != dimension) or features.ndim not in (2, 3):
        raise InputError(
            f"features must have shape (n, k) for instances or (n, {dimension}, k) for variables, "
            f"got {tuple(features.shape)}"
        )
    shared = features.ndim == 3
    k, out = features.shape[-1], 1 if shared else dimension
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers: list[nn.Module] = [nn.Linear(k, out)]
        if kind == "mlp":
            layers = [nn.Linear(k, hidden), nn.ReLU(), nn.Linear(hidden, out)]
    if shared:
        layers.append(nn.Flatten())
    model = Standardised(features, nn.Sequential(*layers))
    return model if costs is None else with_cost_scale(model, costs, shared=shared)
