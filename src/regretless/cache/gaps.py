"""Certified gaps: the best cached value from above, a bound from below."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.cache.bounds import Bound
from regretless.cache.store import SolutionStore

# Sums of some hundred float64 products differ by this much, relative to the sum of their sizes.
ROUNDING = 1e-12


def relative_gaps(
    store: SolutionStore, bound: Bound, costs: Tensor, instance: Tensor | None, *, note: bool = False
) -> Tensor:
    """``(f(s) - L) / max(|f(s)|, |L|)`` of the best member s of S and the bound L, at each cost.

    What rounding explains counts as zero: stored solutions are rounded to the precision of the store, so their values
    are known up to that precision times ``sum |c_i s_i|``.

    Args:
        store: the members of S.
        bound: the bound.
        costs: ``(batch, width)`` minimising.
        instance: ``(batch,)`` ids, for families.
        note: whether the bound may learn from this.

    Returns:
        ``(batch,)`` float64; infinite where there is no bound, or no cached solution.
    """
    costs = costs.detach()
    value, noise = _best_values(store, costs, instance)
    least = bound(costs, instance, value=value, note=note).to(value.device)
    open_ = value - least
    gap = open_ / torch.maximum(value.abs(), least.abs())
    gap = torch.where(open_ > noise, gap, 0.0)
    return torch.where(torch.isfinite(value) & torch.isfinite(least), gap, torch.inf)


def _best_values(store: SolutionStore, costs: Tensor, instance: Tensor | None) -> tuple[Tensor, Tensor]:
    """Values ``(batch,)`` of the best members of S in float64, infinite where there is none, and their noise."""
    served = None
    if len(store) and instance is not None:
        store.to(costs.device)
        served = store.count(instance) > 0
    if not len(store) or (served is not None and not bool(served.all())):
        value = torch.full((len(costs),), torch.inf, dtype=torch.float64, device=costs.device)
        noise = torch.zeros_like(value)
        if served is not None and instance is not None and bool(served.any()):
            value[served], noise[served] = _best_values(store, costs[served], instance[served])
        return value, noise
    rows = store.rows[store.look_up(costs, instance)].to(torch.float64)
    products = costs.to(torch.float64) * rows
    precision = max(4 * torch.finfo(store.rows.dtype).eps, ROUNDING)
    return products.sum(dim=1), precision * products.abs().sum(dim=1)
