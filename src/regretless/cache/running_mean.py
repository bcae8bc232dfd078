"""The mean over S from a running sum, which insertions and evictions keep up to date."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.tensors import scalar


class RunningMean:
    """Sum and number of solutions; for a family, of the feasible ones per instance.

    Attributes:
        sum: ``(instances or 1, width)`` in float64.
        count: ``(instances or 1,)`` in float64.
    """

    def __init__(self, width: int, instances: int | None) -> None:
        self.sum = torch.zeros(instances or 1, width, dtype=torch.float64)
        self.count = torch.zeros(instances or 1, dtype=torch.float64)
        self._mean: Tensor | None = None
        self._all_served = False

    def to(self, device: torch.device) -> None:
        """Move to a device."""
        self.sum, self.count, self._mean = self.sum.to(device), self.count.to(device), None

    def add(self, rows: Tensor, serves: Tensor | None, sign: float = 1.0) -> None:
        """Add solutions ``(m, width)`` that serve ``(instances, m)``, or with ``sign=-1.0`` remove them."""
        if serves is None:
            self.sum.add_(rows.sum(dim=0, dtype=torch.float64), alpha=sign)
            self.count += scalar(sign * rows.shape[0], self.count)
        else:
            weight = serves.to(torch.float64)
            self.sum += sign * (weight @ rows.to(torch.float64))
            self.count += sign * weight.sum(dim=1)
        self._mean = None

    def add_instances(self, rows: Tensor, serves: Tensor) -> None:
        """Append instances that solutions ``(m, width)`` serve, by a mask ``(new instances, m)``."""
        weight = serves.to(torch.float64)
        self.sum = torch.cat([self.sum, weight @ rows.to(torch.float64)])
        self.count = torch.cat([self.count, weight.sum(dim=1)])
        self._mean = None

    def mean(self, dtype: torch.dtype) -> Tensor:
        """``(instances or 1, width)``; zeros where there is no solution."""
        if self._mean is None:
            self._mean = (self.sum / self.count.clamp(min=1.0)[:, None]).to(dtype)
            self._all_served = bool((self.count > 0).all())
        return self._mean

    def unserved(self, instance: Tensor) -> int | None:
        """The first of these instances without a solution, or ``None``; after ``mean``."""
        if self._all_served or not bool((lost := self.count[instance] == 0).any()):
            return None
        return int(instance[lost][0])
