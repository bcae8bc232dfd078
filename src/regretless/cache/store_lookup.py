"""How S is searched: one product for few scores on a CPU, half precision on a GPU, blocks of scores otherwise."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.cache import fp16_lookup, lookup
from regretless.cache.fp16_lookup import HalfMirror
from regretless.cache.lookup import Objective
from regretless.errors import InputError


class StoreLookup:
    """The look-up of a store, with the copies of S that make it fast."""

    def __init__(self) -> None:
        self._half: HalfMirror | None = None  # on a GPU, from the first look-up on for which it pays

    @property
    def mirrored(self) -> bool:
        """Whether there is a copy in half precision, which must follow every insertion."""
        return self._half is not None

    def insert(self, rows: Tensor, places: slice | Tensor, size: int) -> None:
        """Follow a store into which ``rows`` were written at ``places``, and that holds ``size`` rows now."""
        if self._half is not None:
            self._half.put(rows, places, size)

    def best(
        self,
        columns: Tensor,
        costs: Tensor,
        serves: Tensor | None = None,
        instance: Tensor | None = None,
        objective: Objective | None = None,
    ) -> Tensor:
        """Positions ``(batch,)`` of the best columns; the arguments are those of ``lookup.best_columns``.

        Raises:
            InputError: no solution is feasible for an instance.
        """
        plain = instance is None and objective is None
        if plain and costs.is_cuda and columns.shape[1] >= fp16_lookup.SMALLEST:
            coarse = self._mirror(columns).look_up(costs, columns.shape[1])
            if coarse is not None:
                position, certified = coarse
                if not bool(certified.all()):
                    position[~certified] = lookup.best_columns(columns, costs[~certified])[1]
                return position
        if plain and not costs.is_cuda:
            found = lookup.best_on_cpu(columns, costs)
            if found is not None:
                return found
        serves = None if instance is None else serves
        score, position = lookup.best_columns(columns, costs, serves=serves, instance=instance, objective=objective)
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
