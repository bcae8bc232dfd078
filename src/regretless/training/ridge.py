"""Least squares with a penalty chosen by folds: the two-stage fit of a linear model in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Relative to the variance of a standardized feature.
PENALTIES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def ridge(
    inputs: Tensor,
    costs: Tensor,
    *,
    bias: bool,
    folds: list[Tensor],
    intercepts: bool = False,
    weight: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    r"""Linear map from inputs to costs of smallest penalized squared error.

    .. math:: \min_{W, b} \sum_i \omega_i \| W x_i + b - c_i \|^2 + \lambda \sum_i \omega_i \| W \Sigma \|^2

    with :math:`\omega_i` the weights of the instances, 1 where none are given, and :math:`\Sigma` the deviations of the
    inputs. The penalty is the one with the smallest squared error on the folds; ties go to the smallest penalty.

    Args:
        inputs: ``(n, k)``, or ``(n, d, k)`` for one layer that is shared by all costs.
        costs: ``(n, d)``.
        bias: whether the map has a constant.
        folds: positions ``(m,)`` of each fold, which together are all instances; none means no penalty.
        intercepts: whether a shared layer has a constant per cost, which bears no penalty.
        weight: ``(n,)`` weights of the instances.

    Returns:
        Weight ``(out, k)`` and bias ``(out,)``, ``(d,)`` with intercepts, or ``None``, in float64.
    """
    x, c = inputs.to(torch.float64), costs.to(torch.float64)
    if x.ndim == 3:
        c = c[:, :, None]
    counts = None if weight is None else (weight / weight.mean()).reshape(-1, *[1] * (x.ndim - 1)).expand_as(x[..., :1])
    each = None if counts is None else counts.reshape(-1, 1)
    center = _mean(x.reshape(-1, x.shape[-1]), (0,), each) if bias else x.new_zeros(x.shape[-1])
    deviation = _mean((x - center).reshape(-1, x.shape[-1]).square(), (0,), each).sqrt()
    rounding = torch.finfo(inputs.dtype).eps if inputs.is_floating_point() else torch.finfo(x.dtype).eps
    # A constant feature gets a weight of zero instead of an infinite one. Squares of 1 and -1 differ by rounding only.
    size = x.reshape(-1, x.shape[-1]).abs().amax(dim=0)
    varies = (deviation > 1e-12 * deviation.max()) & (deviation > 4 * rounding * size)
    scale = torch.where(varies, deviation, torch.full_like(deviation, torch.inf))
    z = (x - center) / scale
    least = max(1e-10, 10 * rounding)
    over = _over(z.ndim, bias, intercepts)
    parts = [
        _Part.of(z[part], c[part], over, None if counts is None else counts[part])
        for part in folds or [torch.arange(len(z))]
    ]
    errors = torch.zeros(len(PENALTIES), dtype=torch.float64)
    for k, held_out in enumerate(folds):
        maps = _solve(parts[:k] + parts[k + 1 :], PENALTIES, least)
        for place, (slope, constant) in enumerate(maps):
            squares = (z[held_out] @ slope + constant - c[held_out]).square()
            errors[place] += (squares if counts is None else counts[held_out] * squares).sum()
    best = int((errors <= errors.min() * (1 + 1e-9)).nonzero()[0]) if folds else 0
    ((slope, constant),) = _solve(parts, (PENALTIES[best],), least)
    slope = (slope / scale[:, None]).T
    if not over:
        return slope, None
    return slope, constant.reshape(-1) - slope @ center


def _mean(values: Tensor, over: tuple[int, ...], counts: Tensor | None) -> Tensor:
    """Mean over dimensions, with weights ``(..., 1)`` of the rows where they are given."""
    return values.mean(dim=over) if counts is None else (counts * values).sum(dim=over) / counts.sum(dim=over)


def _over(dimensions: int, bias: bool, intercepts: bool) -> tuple[int, ...]:
    """Dimensions of ``(n, k)`` or ``(n, d, k)`` over which a constant is the same; none without a constant."""
    if intercepts or (bias and dimensions == 2):
        return (0,)
    return (0, 1) if bias else ()


@dataclass(frozen=True)
class _Part:
    """Some rows, in as few numbers as least squares need, so that folds share the work on them.

    For centered rows ``z = Q R``, the sums of squares of ``z w - c`` and ``R w - Q' c`` differ by a constant. Unlike
    the products ``z' z`` of normal equations, R loses no digits.

    Attributes:
        rows: number of rows, each counted by its weight.
        count: rows per mean, counted in the same way.
        middle, target: means ``(k,)`` or ``(d, k)`` of the inputs and ``(out,)`` or ``(d, out)`` of the costs.
        root, right: ``(r, k)`` matrix R, and ``(r, out)`` costs ``Q' c``.
    """

    rows: float
    count: float
    middle: Tensor
    target: Tensor
    root: Tensor
    right: Tensor

    @classmethod
    def of(cls, z: Tensor, c: Tensor, over: tuple[int, ...], counts: Tensor | None = None) -> _Part:
        """Compress rows ``(n, k)`` or ``(n, d, k)`` and their costs, which have a constant each ``over`` dimensions.

        ``counts`` ``(n, 1)`` or ``(n, d, 1)`` are the weights of the rows.
        """
        k, out = z.shape[-1], c.shape[-1]
        middle, target = z.new_zeros(k), c.new_zeros(out)
        if over:
            middle, target = _mean(z, over, counts), _mean(c, over, counts)
        away, goal = (z - middle).reshape(-1, k), (c - target).reshape(-1, out)
        rows: float = len(away)
        if counts is not None:
            root = counts.reshape(-1, 1).sqrt()
            away, goal, rows = root * away, root * goal, float(counts.sum())
        reflections, factors = torch.geqrf(away)
        r = len(factors)
        right = torch.ormqr(reflections[:, :r], factors, goal, transpose=True)[:r]
        count = rows / middle[..., 0].numel() if over else 0.0
        return cls(rows, count, middle, target, reflections[:r].triu(), right)


def _solve(parts: list[_Part], penalties: tuple[float, ...], least: float) -> list[tuple[Tensor, Tensor]]:
    """Weights ``(k, out)`` and constants of all parts together for each penalty, from one decomposition.

    Directions whose singular value is below ``least``, relative to the largest one, have a weight of zero. Inputs in
    single precision are dependent only up to their rounding, as products of the levels of a category are: a weight on
    such a direction would be huge, and wrong on other data.
    """
    count, rows = sum(part.count for part in parts), sum(part.rows for part in parts)
    middle = sum(part.middle * (part.count / max(count, 1)) for part in parts)
    target = sum(part.target * (part.count / max(count, 1)) for part in parts)
    # The rows of a part differ from the common means by those from its own and by the difference of both.
    roots, rights = [part.root for part in parts], [part.right for part in parts]
    for part in parts:
        roots.append(part.count**0.5 * (part.middle - middle).reshape(-1, part.root.shape[1]))
        rights.append(part.count**0.5 * (part.target - target).reshape(-1, part.right.shape[1]))
    u, s, vt = torch.linalg.svd(torch.cat(roots), full_matrices=False)
    right = u.T @ torch.cat(rights)
    maps = []
    for penalty in penalties:
        gain = torch.where(s > least * s.max(), s / (s.square() + penalty * rows), torch.zeros_like(s))
        weight = vt.T @ (gain[:, None] * right)
        maps.append((weight, target - middle @ weight))
    return maps
