"""Storage of the solutions in S: hashing, growth, look-up, running sum. It knows nothing of coins or solvers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NoReturn

import numpy as np
import torch
from torch import Tensor

from regretless.cache.fp16_lookup import HalfMirror
from regretless.cache.row_index import RowIndex
from regretless.cache.scan import Objective, best_rows
from regretless.errors import InputError
from regretless.tensors import view

Evict = Literal["unused", "oldest"]


class SolutionStore:
    """A growing set of rows in cost space.

    Insertion costs O(width) a row (one hash, one dictionary look-up, exact comparison only on a match); storage doubles
    when it is full, so growth is amortised; a look-up is one matrix product in blocks of bounded memory; the running
    sum makes the mean over S free. For families a mask says which row serves which instance.

    Args:
        width: columns of a row.
        instances: number of instances of a family, or ``None``.
        capacity: most rows to keep, or ``None``.
        evict: which row goes when the store is full: the one longest unused, or the oldest.
        dtype: of the rows.
    """

    def __init__(
        self,
        width: int,
        *,
        instances: int | None = None,
        capacity: int | None = None,
        evict: Evict = "unused",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        if capacity is not None and capacity < 1:
            raise InputError(f"capacity must be at least 1 or None, got {capacity}")
        if evict not in ("unused", "oldest"):
            raise InputError(f"evict must be 'unused' or 'oldest', got {evict!r}")
        if dtype not in (torch.float32, torch.float64):
            raise InputError(f"dtype must be torch.float32 or torch.float64, got {dtype}")
        self.width, self.instances, self.capacity, self.evict = width, instances, capacity, evict
        self.size = 0
        self.evicted = 0
        self._clock = 0
        self._rows = torch.empty(0, width, dtype=dtype)
        self._view: Tensor | None = None  # the part of it that is filled
        self._stamps = torch.empty(0, dtype=torch.int64)
        # A row of the mask is an instance; without a family there is one row and it is never looked at.
        self._serves = torch.empty(instances or 0, 0, dtype=torch.bool)
        self._sum = torch.zeros(instances or 1, width, dtype=torch.float64)
        self._count = torch.zeros(instances or 1, dtype=torch.float64)
        self._mean: Tensor | None = None
        self._all_served = False
        self._index = RowIndex()
        self._half: HalfMirror | None = None  # on a GPU only

    def __len__(self) -> int:
        return self.size

    @property
    def rows(self) -> Tensor:
        """``(|S|, width)`` view of the solutions."""
        if self._view is None:
            self._view = self._rows[: self.size]
        return self._view

    @property
    def serves(self) -> Tensor | None:
        """``(instances, |S|)`` mask of which row is feasible for which instance; ``None`` without a family."""
        return None if self.instances is None else self._serves[:, : self.size]

    def to(self, device: torch.device) -> None:
        """Move to a device; nothing happens where it is there already."""
        if self._rows.device != device:
            for name in ("_rows", "_stamps", "_serves", "_sum", "_count"):
                setattr(self, name, getattr(self, name).to(device))
            self._mean = self._view = None
            self._half = HalfMirror(self.width, device) if device.type == "cuda" else None
            if self._half is not None and self.size:
                self._half.put(self.rows, torch.arange(self.size, device=device), self.size)

    def add(self, solutions: Tensor, serves: Tensor | None = None) -> int:
        """Insert rows that are not there yet.

        Args:
            solutions: ``(m, width)``.
            serves: ``(instances, m)`` mask, for families.

        Returns:
            How many were new.
        """
        if (serves is None) != (self.instances is None):
            raise InputError("a family's solutions come with a mask of the instances they serve, others without")
        rows = self._own(solutions.detach())
        serves = None if serves is None else serves.to(rows.device, copy=True)
        keys = self._index.keys(rows)
        fresh = self._fresh(rows, keys, serves)
        if self.capacity is not None:
            fresh = fresh[-self.capacity :]
        if not fresh:
            return 0
        mine = serves
        if len(fresh) < rows.shape[0]:
            pick = torch.tensor(fresh, device=rows.device)
            rows, keys = rows[pick], [keys[k] for k in fresh]
            mine = None if serves is None else serves[:, pick]
        places, numbers = self._places(len(fresh))
        self._rows[places] = rows
        if self._half is not None:
            self._half.put(rows, places, self.size)
        # Each row has its own stamp, so that of a batch the first goes first.
        self._stamps[places] = torch.arange(self._clock + 1, self._clock + 1 + len(fresh), device=rows.device)
        self._clock += len(fresh)
        if mine is not None:
            self._serves[:, places] = mine
        self._count_in(rows, mine, 1.0)
        self._index.put(keys, numbers)
        return len(fresh)

    def look_up(self, costs: Tensor, instance: Tensor | None = None, objective: Objective | None = None) -> Tensor:
        """Return for each cost ``(batch, width)`` the position in S of the best row, ties to the first.

        Args:
            costs: minimising costs.
            instance: ``(batch,)`` ids, for families: only rows that serve the instance are considered.
            objective: ``f(rows, costs)`` on broadcast shapes, where it is not linear.
        """
        self.to(costs.device)
        if self.size == 0:
            raise InputError("the cache is empty: add solutions first, for example cache.add(train.solutions)")
        costs = costs.detach().to(self._rows.dtype)
        coarse = self._half.look_up(costs, self.rows) if self._half and instance is None and not objective else None
        if coarse is None:
            serves = None if instance is None else self.serves
            value, position = best_rows(self.rows, costs, serves=serves, instance=instance, objective=objective)
            if instance is not None and bool((lost := torch.isposinf(value)).any()):
                _refuse(int(instance[lost][0]))
        else:
            position, certified = coarse
            if not bool(certified.all()):
                position[~certified] = best_rows(self.rows, costs[~certified])[1]
        if self.capacity is not None and self.evict == "unused":
            self._clock += 1
            self._stamps[position] = self._clock
        return position

    def mean(self, instance: Tensor | None = None) -> Tensor:
        """Mean of the rows, ``(width,)``; for families of those that serve each instance, ``(batch, width)``."""
        if self._mean is None:
            self._mean = (self._sum / self._count.clamp(min=1.0)[:, None]).to(self._rows.dtype)
            self._all_served = self.instances is None or bool((self._count > 0).all())
        if instance is None:
            return self._mean[0]
        if not self._all_served and bool((lost := self._count[instance] == 0).any()):
            _refuse(int(instance[lost][0]))
        return self._mean[instance]

    def count(self, instance: Tensor | None = None) -> Tensor:
        """Number of rows, or for families of those that serve each instance."""
        return (self._count[0] if instance is None else self._count[instance]).to(self._rows.dtype)

    def state_dict(self) -> dict[str, Any]:
        """Rows, masks and stamps; hashes and sums are computed anew on loading."""
        state: dict[str, Any] = {"rows": self.rows.clone(), "stamps": self._stamps[: self.size].clone()}
        state |= {"clock": self._clock, "evicted": self.evicted, "sum": self._sum.clone()}
        return state | ({} if self.serves is None else {"serves": self.serves.clone()})

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take over the content of ``state``."""
        rows, stamps = state["rows"], state["stamps"]
        if rows.ndim != 2 or rows.shape[1] != self.width:
            raise InputError(f"cached solutions must have {self.width} columns, got shape {tuple(rows.shape)}")
        if not torch.isfinite(rows).all():
            raise InputError("cached solutions must be finite, got NaN or infinite values")
        serves = state.get("serves")
        if (serves is None) != (self.instances is None):
            raise InputError("a cache of a family cannot be loaded into one of a single problem, nor the reverse")
        if stamps.shape != rows.shape[:1] or state["sum"].shape != self._sum.shape:
            raise InputError("stamps and sum of a cached store do not fit its rows")
        whole = True
        if self.capacity is not None and len(rows) > self.capacity:  # keep what an eviction would have kept
            whole = False
            keep = torch.topk(stamps, self.capacity).indices.sort().values
            rows, stamps, serves = rows[keep], stamps[keep], None if serves is None else serves[:, keep]
        device, capacity = self._rows.device, self.capacity
        self.__init__(  # type: ignore[misc]
            self.width, instances=self.instances, capacity=None, evict=self.evict, dtype=self._rows.dtype
        )
        self.to(device)
        self.add(rows, serves)
        self.capacity = capacity
        if len(rows) == self.size:
            self._stamps[: self.size] = stamps.to(device)
            if whole and rows.dtype == self._rows.dtype:
                self._sum.copy_(state["sum"])  # bit for bit as it was summed, in its order
        self._clock, self.evicted = int(state["clock"]), int(state["evicted"])

    def _own(self, solutions: Tensor) -> Tensor:
        """A copy of device and type of the store, in which -0.0 is 0.0."""
        given, mine = view(solutions), view(self._rows)
        if given is None or mine is None:
            return solutions.to(device=self._rows.device, dtype=self._rows.dtype) + 0.0
        return torch.from_numpy(np.add(given, 0.0, dtype=mine.dtype, casting="same_kind"))

    def _fresh(self, rows: Tensor, hashes: list[int], serves: Tensor | None) -> list[int]:
        """Positions of rows that are neither stored nor repeated; known rows may come to serve more instances."""
        fresh: list[int] = []
        first: dict[int, int] = {}
        known, places = [], []
        for position, key in enumerate(hashes):
            place = self._index.get(key)
            if place is not None:
                known.append(position)
                places.append(place)
            elif key not in first:
                first[key] = position
                fresh.append(position)
            elif not torch.equal(rows[position], rows[first[key]]):
                fresh.append(position)
            elif serves is not None:
                serves[:, first[key]] |= serves[:, position]
        if known:
            same = _equal(rows, known, self._rows, places)
            # Two rows with one hash: keep both rather than lose one.
            fresh += [position for position, equal in zip(known, same, strict=True) if not equal]
            if self.capacity is not None and self.evict == "unused":  # found again is used
                self._clock += 1
                self._stamps[[place for place, equal in zip(places, same, strict=True) if equal]] = self._clock
            if serves is not None:
                self._serve_more(serves, [(p, q) for p, q, e in zip(known, places, same, strict=True) if e])
        return sorted(fresh)

    def _serve_more(self, serves: Tensor, pairs: list[tuple[int, int]]) -> None:
        for position, place in pairs:
            new = serves[:, position] & ~self._serves[:, place]
            if bool(new.any()):
                self._serves[new, place] = True
                self._count_in(self._rows[place][None], new[:, None], 1.0)

    def _places(self, wanted: int) -> tuple[slice | Tensor, Sequence[int]]:
        """Where the new rows go, as an index and as numbers: free places first, then those of evicted rows."""
        start = self.size
        limit = self.capacity if self.capacity is not None else start + wanted
        free = min(wanted, limit - start)
        self._reserve(start + free)
        self.size += free
        self._view = None
        if free == wanted:
            return slice(start, start + wanted), range(start, start + wanted)
        # Rows that one look-up used have one stamp: the position decides, so that every machine evicts alike.
        rank = self._stamps[:start] * self.size + torch.arange(start, device=self._stamps.device)
        victims = torch.topk(rank, wanted - free, largest=False, sorted=True).indices
        gone, numbers = self._rows[victims], victims.tolist()
        self._count_in(gone, None if self.instances is None else self._serves[:, victims], -1.0)
        self._index.forget(self._index.keys(gone), numbers)
        self.evicted += len(numbers)
        return torch.cat([torch.arange(start, self.size, device=victims.device), victims]), [
            *range(start, self.size),
            *numbers,
        ]

    def _reserve(self, wanted: int) -> None:
        have = len(self._rows)
        if wanted <= have:
            return
        size = max(wanted, 2 * have, 64)
        if self.capacity is not None:
            size = min(size, self.capacity)
        for name, shape in (("_rows", (size, self.width)), ("_stamps", (size,))):
            old = getattr(self, name)
            new = old.new_empty(shape)
            new[:have] = old
            setattr(self, name, new)
        serves = self._serves.new_zeros(len(self._serves), size)
        serves[:, :have] = self._serves
        self._serves = serves

    def _count_in(self, rows: Tensor, serves: Tensor | None, sign: float) -> None:
        if serves is None:
            self._sum.add_(rows.sum(dim=0, dtype=torch.float64), alpha=sign)
            self._count += sign * rows.shape[0]
        else:
            weight = serves.to(torch.float64)
            self._sum += sign * (weight @ rows.to(torch.float64))
            self._count += sign * weight.sum(dim=1)
        self._mean = None


def _equal(rows: Tensor, these: list[int], others: Tensor, those: list[int]) -> list[bool]:
    """Whether pairs of rows are equal."""
    if rows.is_cuda:
        return [bool(same) for same in (rows[these] == others[those]).all(dim=1).tolist()]
    mine, stored = rows.numpy(), others.numpy()
    return [mine[a].tobytes() == stored[b].tobytes() for a, b in zip(these, those, strict=True)]


def _refuse(instance: int) -> NoReturn:
    raise InputError(f"the cache holds no solution that is feasible for instance {instance}: add its optimum first")
