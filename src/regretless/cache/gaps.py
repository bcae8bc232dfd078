"""Certified gaps: the best cached value from above, a bound from below."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regretless.cache.bounds import Bound
from regretless.cache.store import SolutionStore
from regretless.milp import Floats
from regretless.solvers.checked_solve import check_finite

# Sums of some hundred float64 products differ by this much, relative to the sum of their sizes.
ROUNDING = 1e-12


def relative_gaps(
    store: SolutionStore, bound: Bound, costs: Tensor, instance: Tensor | None, *, note: bool = False
) -> Tensor:
    """``(f(s) - L) / max(|f(s)|, |L|)`` of the best member s of S and the bound L, at each cost.

    A difference within rounding counts as zero: stored solutions are rounded to the precision of the store, so their
    values are known up to that precision times ``sum |c_i s_i|``.

    Args:
        store: the members of S.
        bound: the bound.
        costs: ``(batch, width)`` minimizing.
        instance: ``(batch,)`` ids, for families.
        note: whether the bound may learn from this.

    Returns:
        ``(batch,)`` float64; infinite where there is no bound, or no cached solution.
    """
    costs = costs.detach()
    value, noise = _best_values(store, costs, instance)
    if not np.isfinite(value).all():
        check_finite(costs)
    least = bound(costs, instance, value=torch.from_numpy(value), note=note).cpu().numpy()
    # NumPy handles a few numbers in a tenth of torch's time.
    open_ = value - least
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = open_ / np.maximum(np.abs(value), np.abs(least))
    gap[open_ <= noise] = 0.0
    gap[~np.isfinite(open_)] = np.inf
    return torch.from_numpy(gap).to(costs.device)


def _best_values(store: SolutionStore, costs: Tensor, instance: Tensor | None) -> tuple[Floats, Floats]:
    """Values ``(batch,)`` of the best members of S in float64, infinite where there is none, and their noise."""
    served = None
    if len(store) and instance is not None:
        store.to(costs.device)
        served = store.count(instance) > 0
    if not len(store) or (served is not None and not bool(served.all())):
        value, noise = np.full(len(costs), np.inf), np.zeros(len(costs))
        if served is not None and instance is not None and bool(served.any()):
            mask = served.cpu().numpy()
            value[mask], noise[mask] = _best_values(store, costs[served], instance[served])
        return value, noise
    rows = store.take(store.look_up(costs, instance))
    precision = max(4 * torch.finfo(rows.dtype).eps, ROUNDING)
    products = costs.cpu().numpy().astype(np.float64) * rows.cpu().numpy()
    return products.sum(axis=1), precision * np.abs(products).sum(axis=1)
