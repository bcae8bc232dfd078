"""The known costs of the members of a family, which are added to the predicted ones."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regretless.family import Family


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
