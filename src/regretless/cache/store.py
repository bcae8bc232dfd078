"""Storage of the solutions S: insertion without duplicates, look-up, running mean, eviction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NoReturn

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.cache import fp16_lookup, lookup
from regretless.cache.fp16_lookup import HalfMirror
from regretless.cache.lookup import Objective
from regretless.cache.row_index import RowIndex
from regretless.errors import InputError

Evict = Literal["unused", "oldest"]


class SolutionStore:
    """A growing set of solutions in cost space.

    Insertion costs O(width) per solution: one hash, one dictionary look-up, and an exact comparison on a match. Storage
    doubles when it is full, so growth is amortized. A look-up is one matrix product in blocks of bounded memory. A
    running sum makes the mean over S free. For families a mask says which solution is feasible for which instance.

    Args:
        width: length of a solution.
        instances: number of instances of a family, or ``None``.
        capacity: largest number of solutions, or ``None``.
        evict: which solution is dropped from a full store: the one ``"unused"`` for longest, or the ``"oldest"``.
        dtype: ``torch.float32`` or ``torch.float64``.
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
        # One solution per column, so that the product of a look-up needs no transposition.
        self._columns = torch.empty(width, 0, dtype=dtype)
        self._filled: Tensor | None = None
        self._filled_array: NDArray[Any] | None = None
        self._stamps = torch.empty(0, dtype=torch.int64)
        self._serves = torch.empty(instances or 0, 0, dtype=torch.bool)
        self._sum = torch.zeros(instances or 1, width, dtype=torch.float64)
        self._count = torch.zeros(instances or 1, dtype=torch.float64)
        self._mean: Tensor | None = None
        self._all_served = False
        self._index = RowIndex()
        self._half: HalfMirror | None = None  # on a GPU, from the first look-up on for which it pays

    def __len__(self) -> int:
        return self.size

    @property
    def dtype(self) -> torch.dtype:
        """Type of the stored numbers."""
        return self._columns.dtype

    @property
    def columns(self) -> Tensor:
        """``(width, |S|)`` view of the solutions, one per column."""
        if self._filled is None:
            self._filled = self._columns[:, : self.size]
        return self._filled

    @property
    def _array(self) -> NDArray[Any]:
        """``columns`` as an array, made once per change of S: for a CPU only."""
        if self._filled_array is None:
            self._filled_array = self.columns.numpy()
        return self._filled_array

    @property
    def rows(self) -> Tensor:
        """``(|S|, width)`` view of the solutions, one per row."""
        return self.columns.T

    @property
    def serves(self) -> Tensor | None:
        """``(instances, |S|)`` mask of which solution is feasible for which instance; ``None`` without a family."""
        return None if self.instances is None else self._serves[:, : self.size]

    def take(self, positions: Tensor) -> Tensor:
        """Solutions ``(m, width)`` at positions ``(m,)``."""
        return self._columns.index_select(1, positions).T.contiguous()

    def to(self, device: torch.device) -> None:
        """Move to a device; does nothing when the store is there already."""
        if self._columns.device == device:
            return
        for name in ("_columns", "_stamps", "_serves", "_sum", "_count"):
            setattr(self, name, getattr(self, name).to(device))
        self._mean = self._filled = self._filled_array = None
        self._half = None

    def add(self, solutions: Tensor, serves: Tensor | None = None) -> int:
        """Insert the solutions that are not stored yet.

        Args:
            solutions: ``(m, width)``.
            serves: ``(instances, m)`` mask, for families.

        Returns:
            How many were new.
        """
        if (serves is None) != (self.instances is None):
            raise InputError("solutions of a family need a mask of the instances that they serve, others take none")
        # A copy in which -0.0 is 0.0: both are the same solution, with different bytes.
        rows = (solutions.detach().to(self._columns) + 0.0).contiguous()
        serves = None if serves is None else serves.to(rows.device, copy=True)
        here = rows.cpu()  # the one copy from a GPU; hashes and comparisons need no other
        keys = self._index.keys(here)
        fresh = self._fresh(here.numpy(), keys, serves)
        if self.capacity is not None:
            fresh = fresh[-self.capacity :]
        if not fresh:
            return 0
        if len(fresh) < rows.shape[0]:
            rows, keys = here[fresh].to(rows.device), [keys[k] for k in fresh]
            serves = None if serves is None else serves[:, fresh]
        places, numbers = self._places(len(fresh))
        self._columns[:, places] = rows.T
        if self._half is not None:
            self._half.put(rows, places, self.size)
        # Every solution has its own stamp, so that the first of a batch is evicted first.
        self._stamps[places] = torch.arange(self._clock + 1, self._clock + 1 + len(fresh), device=rows.device)
        self._clock += len(fresh)
        if serves is not None:
            self._serves[:, places] = serves
        self._count_in(rows, serves, 1.0)
        self._index.put(keys, numbers)
        return len(fresh)

    def clear(self) -> None:
        """Remove all solutions."""
        device = self._columns.device
        self.__init__(  # type: ignore[misc]
            self.width, instances=self.instances, capacity=self.capacity, evict=self.evict, dtype=self._columns.dtype
        )
        self.to(device)

    def add_instances(self, serves: Tensor) -> None:
        """Append instances to a family.

        Args:
            serves: ``(new instances, |S|)`` mask of the stored solutions that are feasible for them.
        """
        if self.instances is None:
            raise InputError("only the store of a family has instances")
        serves = serves.to(self._serves.device)
        grown = self._serves.new_zeros(len(serves), self._serves.shape[1])
        grown[:, : self.size] = serves
        self._serves = torch.cat([self._serves, grown])
        weight = serves.to(torch.float64)
        self._sum = torch.cat([self._sum, weight @ self.rows.to(torch.float64)])
        self._count = torch.cat([self._count, weight.sum(dim=1)])
        self.instances += len(serves)
        self._mean = None

    def look_up(self, costs: Tensor, instance: Tensor | None = None, objective: Objective | None = None) -> Tensor:
        """Return the position in S of the best solution for each cost vector ``(batch, width)``; ties to the first.

        Args:
            costs: minimizing costs.
            instance: ``(batch,)`` ids, for families: only solutions that are feasible for the instance count.
            objective: ``f(solutions, costs)`` on broadcast shapes, for objectives that are not linear.
        """
        self.to(costs.device)
        if self.size == 0:
            raise InputError("the cache is empty: add solutions first, for example cache.add(train.solutions)")
        if costs.requires_grad or costs.dtype != self._columns.dtype:
            costs = costs.detach().to(self._columns.dtype)
        coarse = None
        if costs.is_cuda and self.size >= fp16_lookup.SMALLEST and instance is None and objective is None:
            if self._half is None:
                self._half = HalfMirror(self.width, costs.device)
                self._half.put(self.rows, torch.arange(self.size, device=costs.device), self.size)
            coarse = self._half.look_up(costs, self.size)
        if coarse is None:
            small = costs.shape[0] * self.size <= lookup.BLOCK_SCORES and not costs.is_cuda
            if small and instance is None and objective is None:
                position = lookup.best_on_cpu(self._array, costs.numpy())
            else:
                serves = None if instance is None else self.serves
                score, position = lookup.best_columns(
                    self.columns, costs, serves=serves, instance=instance, objective=objective
                )
                if instance is not None and bool((lost := torch.isposinf(score)).any()):
                    _refuse(int(instance[lost][0]))
        else:
            position, certified = coarse
            if not bool(certified.all()):
                position[~certified] = lookup.best_columns(self.columns, costs[~certified])[1]
        if self.capacity is not None and self.evict == "unused":
            self._clock += 1
            self._stamps[position] = self._clock
        return position

    def mean(self, instance: Tensor | None = None) -> Tensor:
        """Mean of S, ``(width,)``; for families the mean of the feasible solutions per instance, ``(batch, width)``."""
        if self._mean is None:
            self._mean = (self._sum / self._count.clamp(min=1.0)[:, None]).to(self._columns.dtype)
            self._all_served = self.instances is None or bool((self._count > 0).all())
        if instance is None:
            return self._mean[0]
        if not self._all_served and bool((lost := self._count[instance] == 0).any()):
            _refuse(int(instance[lost][0]))
        return self._mean[instance]

    def count(self, instance: Tensor | None = None) -> Tensor:
        """Number of solutions, or for families of the feasible ones per instance."""
        return (self._count[0] if instance is None else self._count[instance]).to(self._columns.dtype)

    def state_dict(self) -> dict[str, Any]:
        """Solutions, masks, stamps and sums; hashes are computed again on loading."""
        state: dict[str, Any] = {"rows": self.rows.contiguous().clone(), "stamps": self._stamps[: self.size].clone()}
        state |= {"clock": self._clock, "evicted": self.evicted, "sum": self._sum.clone()}
        return state | ({} if self.serves is None else {"serves": self.serves.clone()})

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace the content by that of ``state``."""
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
        complete = True
        if self.capacity is not None and len(rows) > self.capacity:  # keep what an eviction would have kept
            complete = False
            keep = torch.topk(stamps, self.capacity).indices.sort().values
            rows, stamps, serves = rows[keep], stamps[keep], None if serves is None else serves[:, keep]
        device, capacity = self._columns.device, self.capacity
        self.capacity = None
        self.clear()
        self.add(rows, serves)
        self.capacity = capacity
        if len(rows) == self.size:
            self._stamps[: self.size] = stamps.to(device)
            if complete and rows.dtype == self._columns.dtype:
                self._sum.copy_(state["sum"])  # the same bits, whatever the order of the first summation was
        self._clock, self.evicted = int(state["clock"]), int(state["evicted"])

    def _fresh(self, rows: NDArray[Any], keys: list[int], serves: Tensor | None) -> list[int]:
        """Positions of rows that are neither stored nor repeated; a known row may come to serve more instances."""
        fresh: list[int] = []
        first: dict[int, int] = {}
        known, places = [], []
        for position, key in enumerate(keys):
            place = self._index.get(key)
            if place is not None:
                known.append(position)
                places.append(place)
            elif key not in first:
                first[key] = position
                fresh.append(position)
            elif not np.array_equal(rows[position], rows[first[key]]):
                fresh.append(position)
            elif serves is not None:
                serves[:, first[key]] |= serves[:, position]
        if known:
            stored = self._columns.index_select(1, torch.tensor(places, device=self._columns.device)).cpu().numpy()
            same = (rows[known] == stored.T).all(axis=1).tolist()
            # Two rows with one hash: both are stored.
            fresh += [position for position, equal in zip(known, same, strict=True) if not equal]
            if self.capacity is not None and self.evict == "unused":  # found again counts as used
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
                self._count_in(self._columns[:, place][None], new[:, None], 1.0)

    def _places(self, wanted: int) -> tuple[slice | Tensor, Sequence[int]]:
        """Where the new solutions go, as an index and as numbers: free places first, then those of evicted ones."""
        start = self.size
        limit = self.capacity if self.capacity is not None else start + wanted
        free = min(wanted, limit - start)
        self._reserve(start + free)
        self.size += free
        self._filled = self._filled_array = None
        if free == wanted:
            return slice(start, start + wanted), range(start, start + wanted)
        # Solutions used by one look-up have one stamp: the position decides, so that every machine evicts alike.
        rank = self._stamps[:start] * self.size + torch.arange(start, device=self._stamps.device)
        victims = torch.topk(rank, wanted - free, largest=False, sorted=True).indices
        gone, numbers = self.take(victims), victims.tolist()
        self._count_in(gone, None if self.instances is None else self._serves[:, victims], -1.0)
        self._index.forget(self._index.keys(gone), numbers)
        self.evicted += len(numbers)
        places = torch.cat([torch.arange(start, self.size, device=victims.device), victims])
        return places, [*range(start, self.size), *numbers]

    def _reserve(self, wanted: int) -> None:
        have = self._columns.shape[1]
        if wanted <= have:
            return
        size = max(wanted, 2 * have, 64)
        if self.capacity is not None:
            size = min(size, self.capacity)
        for name in ("_columns", "_stamps", "_serves"):  # the last dimension counts the solutions
            old = getattr(self, name)
            new = old.new_zeros(*old.shape[:-1], size)
            new[..., :have] = old
            setattr(self, name, new)

    def _count_in(self, rows: Tensor, serves: Tensor | None, sign: float) -> None:
        if serves is None:
            self._sum.add_(rows.sum(dim=0, dtype=torch.float64), alpha=sign)
            self._count += sign * rows.shape[0]
        else:
            weight = serves.to(torch.float64)
            self._sum += sign * (weight @ rows.to(torch.float64))
            self._count += sign * weight.sum(dim=1)
        self._mean = None


def _refuse(instance: int) -> NoReturn:
    raise InputError(f"the cache holds no solution that is feasible for instance {instance}: add its optimum first")
