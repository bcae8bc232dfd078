"""Known costs: those of the members of a family, which are added to the predicted ones, and how large they may be."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from regretless.errors import RegretlessWarning
from regretless.family import Family

LARGEST_ERROR = 1e-3  # of the predicted part of the objective


class KnownCosts:
    """The known part of each member's objective, as a tensor of the device and precision of the costs.

    Args:
        model: a family with known costs; any other model has nothing to add.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._tensor: Tensor | None = None

    def add(self, costs: Tensor, instance: Tensor | None) -> Tensor:
        """Costs ``(batch, d)`` with the known costs of their members, ``(batch, width)``.

        Args:
            costs: predicted or true costs.
            instance: ``(batch,)`` ids, which have been checked.
        """
        model = self._model
        assert isinstance(model, Family)
        known = self._tensor
        if known is None or len(known) != len(model) or (known.device, known.dtype) != (costs.device, costs.dtype):
            known = self._tensor = torch.as_tensor(model.known).to(costs)
        mine, d = known[instance], model.dimension
        if model.width == d:
            return costs + mine
        return torch.cat([costs + mine[:, :d], mine[:, d:]], dim=1)


def warn_of_known_costs(costs: Tensor, solutions: Tensor, dimension: int) -> None:
    """Warn where known costs are so large that the default precision of torch rounds the predicted part away.

    Args:
        costs: ``(n, width)`` true costs with the known ones.
        solutions: ``(n, width)`` true optima; a row of NaN where there is none.
        dimension: number of predicted costs, the first columns.
    """
    terms = (costs * solutions)[~torch.isnan(solutions).any(dim=1)]
    if terms.shape[1] == dimension or not len(terms):
        return
    known = float(terms[:, dimension:].sum(dim=1).abs().max())
    predicted = float(terms[:, :dimension].sum(dim=1).abs().mean())
    dtype = torch.get_default_dtype()
    error = torch.finfo(dtype).eps * known
    if predicted and error > LARGEST_ERROR * predicted:
        precision = str(dtype).removeprefix("torch.")
        warnings.warn(
            f"known costs and constant of the objective add up to {known:.3g}, which {precision} rounds by up to "
            f"{error:.2g}, while the predicted costs add up to {predicted:.3g}: look-ups in a cache are then wrong. "
            "Leave a large constant out, which changes no decision, or call torch.set_default_dtype(torch.float64) "
            "first",
            RegretlessWarning,
            stacklevel=3,
        )
