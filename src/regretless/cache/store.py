"""Storage of the solutions S: insertion without duplicates, look-up, running mean, eviction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from regretless.arrays import Array
from regretless.cache import fp16_lookup
from regretless.cache.lookup import Objective, StoreLookup, no_solution
from regretless.cache.row_index import RowIndex, new_rows, normalized, row_bytes
from regretless.cache.store_arrays import Columns, LastUse, RunningMean, aligned, widened
from regretless.cache.store_state import StoreState, read_state
from regretless.errors import InputError
from regretless.number_checks import check_integer
from regretless.tensors import no_autocast

Evict = Literal["unused", "oldest"]
# Solutions of a few dozen steps: together they are hashed and compared as fast as those of one step. On a GPU it also
# saves waiting for all that the device has still to do. Until then a look-up scores repeated ones, which costs little.
MOST_STAGED = {"cpu": 64, "cuda": 2048}


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
        if capacity is not None:
            check_integer("capacity", capacity, least=1)
        if evict not in ("unused", "oldest"):
            raise InputError(f"evict must be 'unused' or 'oldest', got {evict!r}")
        if dtype not in (torch.float32, torch.float64):
            raise InputError(f"dtype must be torch.float32 or torch.float64, got {dtype}")
        self.width, self.instances, self.capacity, self.evict = width, instances, capacity, evict
        self._size = 0
        self._staged = 0  # rows behind the stored ones
        self._read = False  # since the last insertion, by somebody who needs to know what is new
        self._settled = (0, 0)  # new and repeated rows among those that were staged, since the last ``collect``
        self.evicted = 0
        self._columns = Columns(width, dtype)
        self._serves = torch.empty(instances or 0, 0, dtype=torch.bool)
        self._mean = RunningMean(width, instances)
        self._use = LastUse()
        self._index = RowIndex()
        self._lookup = StoreLookup()

    def __len__(self) -> int:
        return self.size

    @property
    def size(self) -> int:
        """Number of solutions."""
        self.settle()
        return self._size

    @property
    def dtype(self) -> torch.dtype:
        """Type of the stored numbers."""
        return self._columns.reserved.dtype

    @property
    def columns(self) -> Tensor:
        """``(width, |S|)`` view of the solutions, one per column."""
        self.settle()
        return self._columns.first(self._size)

    @property
    def rows(self) -> Tensor:
        """``(|S|, width)`` view of the solutions, one per row."""
        return self.columns.T

    @property
    def serves(self) -> Tensor | None:
        """``(instances, |S|)`` mask of which solution is feasible for which instance; ``None`` without a family."""
        return None if self.instances is None else self._serves[:, : self.size]

    @property
    def columns_searched(self) -> int:
        """Number of columns that a look-up scores: the solutions, and those staged whose novelty is not known yet."""
        return self._size + self._staged

    def reserved_columns(self) -> Tensor | None:
        """``(width, reserved)`` all columns; those without a solution of their own repeat the first one.

        ``None`` where a look-up is more than a product with them: in an empty store, for families, with a capacity (a
        look-up is a use) and with a copy in half precision.
        """
        searched = self.columns_searched
        if self.instances is not None or self.capacity is not None or self._lookup.mirrored:
            return None
        return self._columns.padded(searched) if 0 < searched < fp16_lookup.SMALLEST else None

    def take(self, positions: Tensor) -> Tensor:
        """Solutions ``(m, width)`` at positions ``(m,)``."""
        return self._columns.take(positions)

    def to(self, device: torch.device) -> None:
        """Move to a device; does nothing when the store is there already."""
        if self._columns.reserved.device == device:
            return
        self.settle()
        self._columns.to(device)
        self._serves = self._serves.to(device)
        self._use.stamps = self._use.stamps.to(device)
        self._mean.to(device)
        self._lookup = StoreLookup()

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
        self._settle()
        device = self._columns.reserved.device
        here = normalized(solutions, self.dtype)
        serves = None if serves is None else serves.to(device, copy=True)
        raw = row_bytes(here)
        keys = self._index.keys(raw)
        fresh = self._fresh(raw, keys, serves)
        if self.capacity is not None:
            fresh = fresh[-self.capacity :]
        if not fresh:
            return 0
        if len(fresh) < len(here):
            here, keys = here[fresh], [keys[k] for k in fresh]
            serves = None if serves is None else serves[:, fresh]
        rows = torch.from_numpy(here).to(device)
        places, numbers = self._places(len(fresh))
        self._columns.put(rows, places)
        self._lookup.insert(rows, places, self._size)
        self._use.insert(places, len(fresh))
        if serves is not None:
            self._serves[:, places] = serves
            self._mean.add(rows, serves)
        elif isinstance(places, slice) and self.capacity is None:
            self._mean.append(places)
        else:  # they may be gone before the mean is read
            self._mean.add(rows, None)
        self._index.put(keys, numbers)
        return len(fresh)

    def stage(self, solutions: Tensor, serves: Tensor | None = None) -> int | None:
        """Insert solutions fast: whether they are new is found out later, for many at once.

        Look-ups find them at once. A repeated solution changes no answer, and everything else that is read from the
        store removes it first; ``collect`` tells how many were new. Stores that must know at once insert at once:
        those of a family, with a capacity, or with a copy in half precision, and on a CPU those that are read in every
        step, such as by NCE.

        Args:
            solutions: ``(m, width)``.
            serves: as in ``add``.

        Returns:
            How many were new; ``None`` where this is found out later.
        """
        count = solutions.shape[0]
        family = serves is not None or self.instances is not None
        must_know = family or self.capacity is not None or self._lookup.mirrored
        on_cpu = self._columns.reserved.is_cpu
        read, self._read = self._read and on_cpu, False
        most = MOST_STAGED["cpu" if on_cpu else "cuda"]
        if must_know or read or count >= most:
            return self.add(solutions, serves)
        start = self.columns_searched
        self._reserve(start + count)
        places = slice(start, start + count)
        if on_cpu:  # -0.0 becomes 0.0 when they are compared
            self._columns.put(solutions, places)
        else:  # the same in one call: on a GPU every call costs more than the work
            moved = solutions.detach().to(self._columns.reserved.device)
            torch.add(moved.T, 0.0, out=self._columns.reserved[:, places])
        self._staged += count
        if self._staged >= most:
            self._settle()
        return None

    def settle(self) -> None:
        """Remove the repeated ones of the staged solutions, for somebody who reads the store."""
        self._read = True
        self._settle()

    def _settle(self) -> None:
        if not self._staged:
            return
        count, self._staged = self._staged, 0
        new = self.add(self._columns.reserved[:, self._size : self._size + count].T.contiguous())
        self._settled = (self._settled[0] + new, self._settled[1] + count - new)

    def collect(self) -> tuple[int, int]:
        """How many of the solutions that were compared later were new, and how many repeated, since the last call."""
        self.settle()
        settled, self._settled = self._settled, (0, 0)
        return settled

    def clear(self) -> None:
        """Remove all solutions; what ``collect`` has to tell stays."""
        self.settle()
        device, settled = self._columns.reserved.device, self._settled
        self.__init__(  # type: ignore[misc]
            self.width, instances=self.instances, capacity=self.capacity, evict=self.evict, dtype=self.dtype
        )
        self._settled = settled
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
        self._mean.add_instances(self.rows, serves)
        self.instances += len(serves)

    def best(self, costs: Tensor, instance: Tensor | None = None, objective: Objective | None = None) -> Tensor:
        """Return the best solution for each cost vector, ``(batch, width)``; the arguments are those of ``look_up``."""
        position, last = self.look_up(costs, instance, objective), self._lookup.cpu
        return self._columns.take(position, last.places if position is last.positions else None)

    def best_arrays(self, costs: Tensor) -> Array:
        """``best`` for costs without a gradient on a CPU, as an array in their precision."""
        position, last = self.look_up(costs), self._lookup.cpu
        found = self._columns.arrays(last.places if position is last.positions else position.numpy())
        return found if costs.dtype == self._columns.reserved.dtype else found.astype(costs.numpy().dtype)

    def look_up(self, costs: Tensor, instance: Tensor | None = None, objective: Objective | None = None) -> Tensor:
        """Return the position in S of the best solution for each cost vector ``(batch, width)``; ties to the first.

        The positions hold until the store is searched or changed: the next look-up may write to their memory.

        Args:
            costs: minimizing costs.
            instance: ``(batch,)`` ids, for families: only solutions that are feasible for the instance count.
            objective: ``f(solutions, costs)`` on broadcast shapes, for objectives that are not linear.
        """
        plain, searched = instance is None and objective is None, self._size + self._staged
        if plain:  # training repeats look-ups of one shape
            position = self._lookup.cpu.again(self._columns.reserved, searched, costs)
            if position is not None:
                return position
        if costs.requires_grad or costs.dtype != self._columns.reserved.dtype:
            costs = costs.detach().to(self.dtype)
        position = None
        if plain:
            position = self._lookup.plain(self._columns, searched, costs, exact=self.capacity is not None)
        if position is None:
            self.to(costs.device)
            if searched == 0:
                raise InputError("the cache is empty: add solutions first, for example cache.add(train.solutions)")
            with no_autocast(costs.device.type):
                position = self._lookup.best(self.columns, costs, self.serves, instance, objective)
        if self.capacity is not None and self.evict == "unused":
            self._use.use(position)
        return position

    def mean(self, instance: Tensor | None = None) -> Tensor:
        """Mean of S, ``(width,)``; for families the mean of the feasible solutions per instance, ``(batch, width)``."""
        self.settle()
        added = self._mean.of(self._columns)
        if instance is None:
            return added.of_all(self.dtype)
        mean = added.mean(self.dtype)
        if (lost := self._mean.unserved(instance)) is not None:
            raise no_solution(lost)
        return mean[instance]

    def count(self, instance: Tensor | None = None) -> Tensor:
        """Number of solutions, or for families of the feasible ones per instance."""
        self.settle()
        count = self._mean.of(self._columns).count
        return (count[0] if instance is None else count[instance]).to(self.dtype, copy=True)

    def state_dict(self) -> dict[str, Any]:
        """Solutions, masks, stamps and sums; see ``StoreState``."""
        size = self.size  # solutions that are staged have no stamps before
        stamps, serves = self._use.stamps[:size], self.serves
        total = self._mean.of(self._columns).sum
        return StoreState(self.rows, stamps, self._use.clock, self.evicted, total, serves).as_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace the content by that of ``state``."""
        found = read_state(state, self.width, self.instances).within(self.capacity)
        capacity, self.capacity = self.capacity, None
        self.instances = None if found.serves is None else len(found.serves)  # a family may have grown since
        self.clear()
        self.add(found.rows, found.serves)
        mean, self.capacity = self._mean.of(self._columns), capacity
        if len(found.rows) == self.size:
            self._use.stamps[: self.size] = found.stamps.to(self._columns.reserved.device)
            if found.sum is not None and found.rows.dtype == self.dtype:
                mean.sum.copy_(found.sum)  # the same bits, whatever the order of the first summation was
        self._use.clock, self.evicted = found.clock, found.evicted

    def _fresh(self, raw: list[bytes], keys: list[int], serves: Tensor | None) -> list[int]:
        """Positions of rows that are neither stored nor repeated; a known row may come to serve more instances."""
        found = new_rows(raw, self._index.find(keys), self._columns.bytes_at)
        if found.stored and self.capacity is not None and self.evict == "unused":  # found again counts as used
            self._use.use([place for _, place in found.stored])
        if serves is not None:
            for position, before in found.repeated:
                serves[:, before] |= serves[:, position]
            for position, place in found.stored:
                new = serves[:, position] & ~self._serves[:, place]
                if bool(new.any()):
                    self._serves[new, place] = True
                    self._mean.add(self._columns.reserved[:, place][None], new[:, None])
        return found.fresh

    def _places(self, wanted: int) -> tuple[slice | Tensor, Sequence[int]]:
        """Where the new solutions go, as an index and as numbers: free places first, then those of evicted ones."""
        start = self._size
        limit = self.capacity if self.capacity is not None else start + wanted
        free = min(wanted, limit - start)
        self._reserve(start + free)
        self._size += free
        if free == wanted:
            return slice(start, start + wanted), range(start, start + wanted)
        victims = self._use.oldest(start, wanted - free)
        gone, numbers = self.take(victims), victims.tolist()
        self._mean.add(gone, None if self.instances is None else self._serves[:, victims], -1.0)
        self._index.forget(self._index.keys(row_bytes(gone.cpu().numpy())), numbers)
        self.evicted += len(numbers)
        places = torch.cat([torch.arange(start, self._size, device=victims.device), victims])
        return places, [*range(start, self._size), *numbers]

    def _reserve(self, wanted: int) -> None:
        have = self._columns.reserved.shape[1]
        if wanted <= have:
            return
        size = aligned(max(wanted, 2 * have, 64))
        if self.capacity is not None:
            size = min(size, self.capacity)
        self._columns.reserve(size)
        self._serves, self._use.stamps = widened(self._serves, size), widened(self._use.stamps, size)
