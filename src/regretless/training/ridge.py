"""Least squares with a penalty chosen by folds: the two-stage fit of a linear model in closed form."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.training.folds import rest_of

# Relative to the variance of a standardized feature.
PENALTIES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def ridge(
    inputs: Tensor, costs: Tensor, *, bias: bool, folds: list[Tensor], intercepts: bool = False
) -> tuple[Tensor, Tensor | None]:
    r"""Linear map from inputs to costs of smallest penalized squared error.

    .. math:: \min_{W, b} \sum_i \| W x_i + b - c_i \|^2 + \lambda n \| W \Sigma \|^2

    with :math:`\Sigma` the deviations of the inputs. The penalty is the one with the smallest squared error on the
    folds; ties go to the smallest penalty.

    Args:
        inputs: ``(n, k)``, or ``(n, d, k)`` for one layer that is shared by all costs.
        costs: ``(n, d)``.
        bias: whether the map has a constant.
        folds: held-out positions ``(m,)`` of each fold; none means no penalty.
        intercepts: whether a shared layer has a constant per cost, which bears no penalty.

    Returns:
        Weight ``(out, k)`` and bias ``(out,)``, ``(d,)`` with intercepts, or ``None``, in float64.
    """
    x, c = inputs.to(torch.float64), costs.to(torch.float64)
    if x.ndim == 3:
        c = c[:, :, None]
    center = x.reshape(-1, x.shape[-1]).mean(dim=0) if bias else x.new_zeros(x.shape[-1])
    flat = (x - center).reshape(-1, x.shape[-1])
    deviation = flat.square().mean(dim=0).sqrt()
    rounding = torch.finfo(inputs.dtype).eps if inputs.is_floating_point() else torch.finfo(x.dtype).eps
    # A constant feature gets a weight of zero instead of an infinite one. Squares of 1 and -1 differ by rounding only.
    size = x.reshape(-1, x.shape[-1]).abs().amax(dim=0)
    varies = (deviation > 1e-12 * deviation.max()) & (deviation > 4 * rounding * size)
    scale = torch.where(varies, deviation, torch.full_like(deviation, torch.inf))
    z = (x - center) / scale
    least = max(1e-10, 10 * rounding)
    over = _over(z.ndim, bias, intercepts)
    errors = torch.zeros(len(PENALTIES), dtype=torch.float64)
    for held_out in folds:
        rest = rest_of(len(z), held_out)
        maps = _solve(z[rest], c[rest], over, PENALTIES, least)
        for k, (weight, constant) in enumerate(maps):
            errors[k] += (z[held_out] @ weight + constant - c[held_out]).square().sum()
    best = int((errors <= errors.min() * (1 + 1e-9)).nonzero()[0]) if folds else 0
    ((weight, constant),) = _solve(z, c, over, (PENALTIES[best],), least)
    weight = (weight / scale[:, None]).T
    if not over:
        return weight, None
    return weight, constant.reshape(-1) - weight @ center


def _over(dimensions: int, bias: bool, intercepts: bool) -> tuple[int, ...]:
    """Dimensions of ``(n, k)`` or ``(n, d, k)`` over which a constant is the same; none without a constant."""
    if intercepts or (bias and dimensions == 2):
        return (0,)
    return (0, 1) if bias else ()


def _solve(
    z: Tensor, c: Tensor, over: tuple[int, ...], penalties: tuple[float, ...], least: float
) -> list[tuple[Tensor, Tensor]]:
    """Weights ``(k, out)`` and constants for each penalty, from one decomposition.

    Directions whose singular value is below ``least``, relative to the largest one, have a weight of zero. Inputs in
    single precision are dependent only up to their rounding, as products of the levels of a category are: a weight on
    such a direction would be huge, and wrong on other data.
    """
    middle, target = (z.mean(dim=over), c.mean(dim=over)) if over else (z.new_zeros(z.shape[-1]), c.new_zeros(1))
    away, goal = (z - middle).reshape(-1, z.shape[-1]), (c - target).reshape(-1, c.shape[-1])
    u, s, vt = torch.linalg.svd(away, full_matrices=False)
    right = u.T @ goal
    maps = []
    for penalty in penalties:
        gain = torch.where(s > least * s.max(), s / (s.square() + penalty * len(away)), torch.zeros_like(s))
        weight = vt.T @ (gain[:, None] * right)
        maps.append((weight, target - middle @ weight))
    return maps
