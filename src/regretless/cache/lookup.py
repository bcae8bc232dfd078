"""The look-up: the solution of smallest objective for every cost vector, by whichever search of S is fastest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.cache import fp16_lookup
from regretless.cache.fp16_lookup import HalfMirror
from regretless.cache.store_arrays import ALIGNED, Columns
from regretless.errors import InputError

Objective = Callable[[Tensor, Tensor], Tensor]
Again = Callable[[Tensor, int, Tensor], Tensor | None]

# Scores of one block, which bound the memory whatever |S| and the batch are. On a CPU 8 MB stay in the processor's last
# cache, and larger products are faster than smaller ones. On a GPU a few large products are fastest.
BLOCK_SCORES = 1 << 21
BLOCK_SCORES_GPU = 1 << 28
# Cost vectors of one block on a CPU: with more of them the block would be narrow, and narrow products are slow. MKL,
# which torch has on x86, is at its best with fewer of them.
BLOCK_COSTS = 128 if torch.backends.mkl.is_available() else 256  # type: ignore[no-untyped-call]
# As long as a block of scores stays in the second cache, more cost vectors are better.
SMALL_BLOCK = 1 << 18
# Columns that a product on a GPU takes at a time: cuBLAS chooses a kernel for every new shape, which takes longer than
# the product, and a growing S would have a new shape in every step.
ROUNDED = 512


class CpuLookup:
    """Look-ups on a CPU as ``best_columns`` finds them, by a product in memory that is kept, and NumPy's arg-min.

    Training looks up batches of one shape. What follows from the shape is kept from one look-up to the next: new memory
    for every product costs more than the search, and so do all the checks of a look-up, or a new tensor for positions.

    Attributes:
        again: ``f(reserved, searched, costs)`` with all columns of the store, how many of them are searched, and costs
            ``(batch, width)``. ``positions``, ties to the first, if the last look-up was like this one, and ``None`` if
            not, or if there is more to do.
        positions: ``(batch,)`` what the last look-up found. The next one of this batch size writes to the same memory.
        places: the same memory for NumPy.
    """

    def __init__(self) -> None:
        self.again: Again = _not_again
        self.positions = torch.empty(0, dtype=torch.int64)
        self.places: NDArray[np.int64] = self.positions.numpy()
        self._scores = torch.empty(0, 0)

    def __reduce__(self) -> tuple[type[CpuLookup], tuple[()]]:
        return CpuLookup, ()  # a copy has its own memory

    def first(self, columns: Columns, searched: int, costs: Tensor, *, exact: bool) -> Tensor | None:
        """Positions ``(batch,)``; ``None`` where the scores of a block of cost vectors are too many.

        Args:
            columns: of the store.
            searched: how many of them are searched.
            costs: ``(batch, width)`` in the precision of the columns, without a gradient.
            exact: whether columns behind these must not be scored.
        """
        some, batch = columns.first(searched) if exact else columns.rounded(searched), costs.shape[0]
        wide = some.shape[1]
        few = _even(batch, max(BLOCK_COSTS, SMALL_BLOCK // wide))
        if few * wide > BLOCK_SCORES:
            return None
        with torch.inference_mode(False):  # tensors of that mode could not be written to later
            if self._scores.shape != (few, wide) or self._scores.dtype != costs.dtype:
                self._scores = torch.empty(few, wide, dtype=costs.dtype)
            if self.positions.shape[0] != batch:
                self.positions = torch.empty(batch, dtype=torch.int64)
                self.places = self.positions.numpy()
        repeats = few == batch and not exact
        self.again = self._repeated(columns.reserved, some, costs) if repeats else _not_again
        array = self._scores.numpy()
        for start in range(0, batch, max(few, 1)):
            count = min(few, batch - start)
            torch.mm(costs[start : start + count], some, out=self._scores[:count])
            array[:count].argmin(axis=1, out=self.places[start : start + count])
        return self.positions

    def _repeated(self, reserved: Tensor, columns: Tensor, costs: Tensor) -> Again:
        """Look-ups like that of these costs. A closure, since attributes would cost as much as the checks."""
        wide, numbers, dtype = columns.shape[1], costs.numel(), costs.dtype
        more_than, product, scores, smallest = wide - ALIGNED, torch.mm, self._scores, self._scores.numpy().argmin
        positions, places = self.positions, self.places

        def again(now: Tensor, searched: int, costs: Tensor) -> Tensor | None:
            if now is not reserved or not more_than < searched <= wide:
                return None
            if costs.numel() != numbers or costs.dtype is not dtype:
                return None
            try:
                product(costs, columns, out=scores)
            except RuntimeError:  # another width or device, or a gradient: to ask before takes longer
                return None
            smallest(1, places)
            return positions

        return again


def _not_again(reserved: Tensor, searched: int, costs: Tensor) -> None:
    return None


def _even(number: int, most: int) -> int:
    """Size of equal parts of a number, each at most ``most``; the last one may be smaller."""
    return -(-number // max(1, -(-number // most)))


def best_columns(
    columns: Tensor,
    costs: Tensor,
    *,
    serves: Tensor | None = None,
    instance: Tensor | None = None,
    objective: Objective | None = None,
) -> tuple[Tensor, Tensor]:
    """Find for every cost vector the solution of smallest score; ties go to the first.

    Args:
        columns: ``(width, |S|)``, one solution per column. In this layout the product needs no transposition, which
            makes it up to eight times faster for small batches on ARM.
        costs: ``(batch, width)``, without a gradient.
        serves: ``(instances, |S|)`` mask of the solutions that are feasible per instance; ``None`` for all.
        instance: ``(batch,)`` ids, together with ``serves``.
        objective: ``f(solutions, costs)`` on broadcast shapes, for objectives that are not linear.

    Returns:
        Scores ``(batch,)``, infinite where no solution is feasible, and positions ``(batch,)``.
    """
    batch, (width, size) = costs.shape[0], columns.shape
    if batch > BLOCK_COSTS and batch * size > BLOCK_SCORES and not costs.is_cuda:
        parts = []
        for start in range(0, batch, BLOCK_COSTS):
            part = slice(start, start + BLOCK_COSTS)
            ids = None if instance is None else instance[part]
            parts.append(best_columns(columns, costs[part], serves=serves, instance=ids, objective=objective))
        return torch.cat([score for score, _ in parts]), torch.cat([position for _, position in parts])
    budget = BLOCK_SCORES_GPU if costs.is_cuda else BLOCK_SCORES
    block = max(1, budget // (max(batch, 1) * (1 if objective is None else width)))
    if size <= block:
        return _smallest(_scores(columns, costs, objective), _mask(serves, instance))
    # All products are written to one place: new memory for each of them costs more than the search.
    out = costs.new_empty(batch, block) if objective is None else None
    best, position = costs.new_full((batch,), torch.inf), torch.zeros(batch, dtype=torch.int64, device=costs.device)
    for start in range(0, size, block):
        some = columns[:, start : start + block]
        scores = _scores(some, costs, objective, None if out is None else out[:, : some.shape[1]])
        score, place = _smallest(scores, _mask(serves, instance, slice(start, start + block)))
        position = torch.where(score < best, place + start, position)
        best = torch.minimum(best, score)
    return best, position


def best_of_first(columns: Tensor, size: int, costs: Tensor) -> Tensor:
    """Positions ``(batch,)`` as ``best_columns`` finds them among the first ``size`` columns, for a GPU.

    Args:
        columns: ``(width, reserved)``; those behind the first ``size`` are finite and do not count.
        size: number of solutions.
        costs: ``(batch, width)``, without a gradient.
    """
    wide = min(-(-size // ROUNDED) * ROUNDED, columns.shape[1])
    if costs.shape[0] * wide > BLOCK_SCORES_GPU:
        return best_columns(columns[:, :size], costs)[1]
    return torch.mm(costs, columns[:, :wide])[:, :size].min(dim=1).indices


def _scores(columns: Tensor, costs: Tensor, objective: Objective | None, out: Tensor | None = None) -> Tensor:
    """Scores ``(batch, columns)``."""
    if objective is not None:
        return objective(columns.T[None], costs[:, None])
    return torch.mm(costs, columns, out=out)


def _mask(serves: Tensor | None, instance: Tensor | None, part: slice = slice(None)) -> Tensor | None:
    """Mask ``(batch, columns)`` of the solutions that are feasible, or ``None`` for all."""
    return None if serves is None or instance is None else serves[instance, part]


def _smallest(scores: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Smallest score of each row and its position."""
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.inf)
    if scores.is_cuda:
        best = scores.min(dim=1)
        return best.values, best.indices
    # On a CPU torch's search costs as much as the product; NumPy's is ten times faster.
    array = scores.detach().numpy()
    position = array.argmin(axis=1)
    return torch.from_numpy(array[np.arange(len(position)), position]), torch.from_numpy(position)


class StoreLookup:
    """The look-up of a store, with the copies of S that make it fast."""

    def __init__(self) -> None:
        self._half: HalfMirror | None = None  # on a GPU, from the first look-up on for which it pays
        self.cpu = CpuLookup()

    @property
    def mirrored(self) -> bool:
        """Whether there is a copy in half precision, which must follow every insertion."""
        return self._half is not None

    def insert(self, rows: Tensor, places: slice | Tensor, size: int) -> None:
        """Follow a store into which ``rows`` were written at ``places``, and that holds ``size`` rows now."""
        if self._half is not None:
            self._half.put(rows, places, size)

    def plain(self, columns: Columns, searched: int, costs: Tensor, *, exact: bool) -> Tensor | None:
        """Positions as ``best`` finds them for linear objectives, in few calls for the steps of training.

        Args:
            columns: of the store.
            searched: number of columns to search.
            costs: ``(batch, width)`` in the precision of the store.
            exact: whether columns behind these must not be scored.

        Returns:
            The positions; ``None`` where more has to be done.
        """
        reserved = columns.reserved
        if not searched:
            return None
        if costs.is_cpu and reserved.is_cpu:
            return self.cpu.first(columns, searched, costs, exact=exact)
        if torch.is_autocast_enabled(costs.device.type):
            return None
        if costs.is_cuda and costs.device == reserved.device and searched < fp16_lookup.SMALLEST:
            return best_of_first(reserved, searched, costs)
        return None

    def best(
        self,
        columns: Tensor,
        costs: Tensor,
        serves: Tensor | None = None,
        instance: Tensor | None = None,
        objective: Objective | None = None,
    ) -> Tensor:
        """Positions ``(batch,)`` of the best columns; the arguments are those of ``best_columns``.

        Raises:
            InputError: no solution is feasible for an instance.
        """
        plain = instance is None and objective is None
        if plain and costs.is_cuda and columns.shape[1] >= fp16_lookup.SMALLEST:
            coarse = self._mirror(columns).look_up(costs, columns.shape[1])
            if coarse is not None:
                position, certified = coarse
                if not bool(certified.all()):
                    position[~certified] = best_columns(columns, costs[~certified])[1]
                return position
        serves = None if instance is None else serves
        score, position = best_columns(columns, costs, serves=serves, instance=instance, objective=objective)
        if instance is not None and bool((lost := torch.isposinf(score)).any()):
            raise no_solution(int(instance[lost][0]))
        return position

    def _mirror(self, columns: Tensor) -> HalfMirror:
        if self._half is None:
            self._half = HalfMirror(columns.shape[0], columns.device)
            self._half.put(columns.T, torch.arange(columns.shape[1], device=columns.device), columns.shape[1])
        return self._half


def no_solution(instance: int) -> InputError:
    """The error of an instance that no stored solution serves."""
    return InputError(f"the cache holds no solution that is feasible for instance {instance}: add its optimum first")
