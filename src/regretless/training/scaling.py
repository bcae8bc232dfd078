"""The scales of features and costs, so that one learning rate serves cents and millions."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

EPS = 1e-8  # the constant that Adam adds to the size of gradients
LEAST_EPS = 1e-19  # squares of smaller gradients are zero in single precision
USUAL = 1e-8, 1e8  # deviations of costs whose squares, and those of their gradients, are far from its limits


def deviation_or_one(values: Tensor, dim: int | None = None) -> Tensor:
    """Standard deviation over ``dim``, or 1 where values are constant and have no scale; see ``varies``."""
    return values.std(dim=dim, correction=0).where(varies(values, dim), 1.0)


def varies(values: Tensor, dim: int | None = None) -> Tensor:
    """Whether values are not constant.

    Values are constant where they differ by no more than the default precision of torch, in which models compute,
    distinguishes at their size. The deviation itself does not tell: that of a constant 1e8 / 3 is not zero, but as
    large as the rounding of its mean.

    Args:
        values: numbers of any shape.
        dim: dimension over which it is taken; ``None`` for all.
    """
    deviation, precision = values.std(dim=dim, correction=0), torch.finfo(torch.get_default_dtype())
    over = () if dim is None else (dim,)
    low, high = values.amin(over), values.amax(over)
    return (high - low > precision.eps * torch.maximum(low.abs(), high.abs())) & (deviation > precision.tiny)


def moments(features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows ``(m, k)`` of features ``(n, ..., k)`` in float64, and mean and deviation (or 1) of each column."""
    rows = features.reshape(-1, features.shape[-1]).to(torch.float64)
    return rows, rows.mean(dim=0), deviation_or_one(rows, dim=0)


class CostScale(nn.Module):
    r"""Scale the output of a model to the training costs; the scale is saved with the weights.

    .. math:: \hat c = \mu + \sigma \, m(x)

    Args:
        inner: maps features to ``(batch, d)``.
        mean: ``(d,)`` or ``()``, added to the scaled output.
        scale: ``()``, the same for all costs, since decisions compare costs with each other.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, inner: nn.Module, mean: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.inner = inner
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)

    def forward(self, x: Tensor) -> Tensor:
        """Predict costs."""
        out: Tensor = self.mean + self.scale * self.inner(x)
        return out


def with_cost_scale(inner: nn.Module, costs: Tensor, *, shared: bool) -> nn.Module:
    """Wrap a model in the scale of its training costs.

    Args:
        inner: the model.
        costs: ``(n, d)`` training costs.
        shared: whether one model serves all costs: then one mean serves all of them, else each has its own.
    """
    dtype = torch.get_default_dtype()
    mean = costs.mean() if shared else costs.mean(dim=0)
    scale = deviation_or_one(costs)
    # A shared mean has d entries too, so that saved weights fit in either case.
    return CostScale(inner, mean.expand(costs.shape[1]).to(dtype).clone(), scale.to(dtype))


def cost_unit(model: nn.Module) -> float:
    """Predicted costs per unit of the output of the layers of a model: its scale, or 1 where it has none."""
    return float(model.scale) if isinstance(model, CostScale) else 1.0


def eps_for(deviation: float) -> float:
    """Adam's constant where a model is trained on costs with this deviation.

    Gradients have the size of the costs, those of squared errors the size of squared costs. Where costs vary by less
    than 0.01, these come near the constant, and training becomes slow or stops: there it is smaller, too.

    >>> eps_for(1.0)
    1e-08
    """
    return max(min(1.0, (100 * deviation) ** 2) * EPS, LEAST_EPS)


def gradient_factor(deviation: float) -> float:
    """Factor of gradients where a model is trained on costs with this deviation; 1 for all but extreme costs.

    Gradients of squared errors have the size of squared costs, and Adam squares them again. In single precision that is
    infinity or zero for extreme costs, and weights would stay as they are. Adam's steps do not depend on the factor;
    as a power of two it does not change the rounding either.

    >>> gradient_factor(1e6), gradient_factor(2.0**40) * 2**40
    (1.0, 1.0)
    """
    low, high = USUAL
    extreme = 0 < deviation < low or high < deviation < math.inf
    return 2.0 ** -round(math.log2(deviation)) if extreme else 1.0
