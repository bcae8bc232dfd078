"""The content of a store as plain data and tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from regretless.errors import InputError


@dataclass(frozen=True)
class StoreState:
    """What a store saves; hashes are computed again on loading.

    Attributes:
        rows: ``(|S|, width)`` solutions.
        stamps: ``(|S|,)`` of their insertion or last use.
        clock: the last stamp.
        evicted: number of solutions that were dropped.
        sum: ``(instances or 1, width)`` of the solutions; ``None`` where it is not that of these rows.
        serves: ``(instances, |S|)`` mask, for families.
    """

    rows: Tensor
    stamps: Tensor
    clock: int
    evicted: int
    sum: Tensor | None
    serves: Tensor | None = None

    def as_dict(self) -> dict[str, Any]:
        """Copies under the names of the attributes; without ``serves`` where there is no family."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.contiguous().clone() if isinstance(value, Tensor) else value
            for name, value in found.items()
            if value is not None
        }

    def within(self, capacity: int | None) -> StoreState:
        """The part that an eviction would have kept."""
        if capacity is None or len(self.rows) <= capacity:
            return self
        keep = torch.sort(self.stamps, stable=True).indices[-capacity:].sort().values  # ties as ``LastUse.oldest``
        serves = None if self.serves is None else self.serves[:, keep]
        return replace(self, rows=self.rows[keep], stamps=self.stamps[keep], serves=serves, sum=None)


def read_state(state: Mapping[str, Any], width: int, instances: int | None) -> StoreState:
    """Check a saved state.

    Args:
        state: what ``as_dict`` returned.
        width: length of a solution.
        instances: number of instances of a family, or ``None``; the state may hold another number of them.

    Raises:
        InputError: the state does not fit a store of this kind, or its parts do not fit each other.
    """
    rows, stamps, serves = state["rows"], state["stamps"], state.get("serves")
    if rows.ndim != 2 or rows.shape[1] != width:
        raise InputError(f"cached solutions must have {width} columns, got shape {tuple(rows.shape)}")
    if not torch.isfinite(rows).all():
        raise InputError("cached solutions must be finite, got NaN or infinite values")
    if (serves is None) != (instances is None):
        raise InputError("a cache of a family cannot be loaded into one of a single problem, nor the reverse")
    members = 1 if serves is None else len(serves)
    if stamps.shape != rows.shape[:1] or state["sum"].shape != (members, width):
        raise InputError("stamps and sum of a cached store do not fit its rows")
    if serves is not None and serves.shape != (members, len(rows)):
        raise InputError("the mask of the instances of a cached store does not fit its rows")
    return StoreState(rows, stamps, int(state["clock"]), int(state["evicted"]), state["sum"], serves)
