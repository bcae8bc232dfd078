"""How S grows: coins choose the heads of a step, the heads are solved, and what is found joins S on all ranks."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from regretless.arrays import Array
from regretless.cache.gaps import GapBound
from regretless.cache.heads import Growth, Heads, exchange, solve_heads
from regretless.cache.policies import Batch, Coins, Mask, Policy, checked_mask
from regretless.cache.served_instances import join_members, served
from regretless.cache.statistics import CacheStatistics
from regretless.cache.store import SolutionStore
from regretless.cache.warm_starts import WarmStarts
from regretless.errors import InputError
from regretless.milp import Floats
from regretless.problem import Problem
from regretless.ranks import Ranks

GrowAt = Literal["predicted", "transformed"]


class Growing:
    """The half of Algorithm 2 that solves; ``SolutionCache`` is the half that looks up.

    Args:
        problem: what to solve.
        store: the solutions S.
        statistics: where steps are counted.
        grow_at: costs at which heads are solved; see ``SolutionCache``.
        coins: chance of the policy.
        bound: lower bound of the gaps that a policy may use.
        starts: decisions from which solves start, or ``None``.

    Attributes:
        lock: held while S, statistics or coins change or are read. Solves are outside of it, so that the threads that
            share a cache solve at the same time; those from ``starts``, which belong to the cache, are inside.
    """

    def __init__(
        self,
        problem: Problem,
        store: SolutionStore,
        statistics: CacheStatistics,
        *,
        grow_at: GrowAt,
        coins: Coins,
        bound: GapBound,
        starts: WarmStarts | None,
    ) -> None:
        if grow_at not in ("predicted", "transformed"):
            raise InputError(f"grow_at must be 'predicted' or 'transformed', got {grow_at!r}")
        self.problem, self.store, self.statistics = problem, store, statistics
        self.grow_at, self.coins, self.bound, self.starts = grow_at, coins, bound, starts
        self.ranks: Ranks | None = None
        self.lock = threading.RLock()
        self._lookups = 0  # of ranks: since the last step
        self._one_coin: list[Mask] | None = None  # inside of a block of ``one_coin``: the coins, once they are flipped

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.RLock())  # a copy has a lock of its own

    def share(self, ranks: Ranks) -> None:
        """Let ranks hold one S: the union of what they hold now, and of what each of them finds later.

        Raises:
            InputError: the ranks have different problems, or the store drops solutions by their use.
        """
        if self.store.capacity is not None and self.store.evict == "unused":
            raise InputError(
                "ranks use different solutions, so a shared cache cannot drop the one unused for longest: build it "
                "with evict='oldest' or without a capacity"
            )
        if len(set(ranks.gather_objects((self.problem.fingerprint, self.coins.seed, self.grow_at)))) > 1:
            raise InputError("ranks that share a cache need the same problem, seed and grow_at")
        join_members(self.problem, self.store)
        rows, serves = ranks.gather_rows(self.store.rows), self.store.serves
        self.store.clear()
        self.store.add(rows, None if serves is None else ranks.gather_rows(serves.T).T)
        self.ranks = ranks

    def synchronize(self) -> None:
        """Count the look-ups of all ranks; all must call this."""
        if self.ranks is not None:
            self._insert(Growth(torch.empty(0, self.problem.width)))

    def count_lookups(self, count: int) -> None:
        """Count look-ups; those of ranks are added up in the next step."""
        with self.lock:
            if self.ranks is None:
                self.statistics.lookups += count
            else:
                self._lookups += count

    def forget_lookups(self) -> None:
        """Start with the counts of a state that was loaded."""
        self._lookups = 0

    @contextmanager
    def one_coin(self) -> Iterator[None]:
        """Flip one coin per instance for all steps inside of the block; see ``SolutionCache.one_coin``."""
        if self.ranks is not None and self.grow_at == "transformed":
            raise InputError(
                "a loss that queries its oracle several times per step, not equally often on every rank, needs a "
                "shared cache with grow_at='predicted'"
            )
        with self.lock:  # the coins of the block are those of one thread
            self._one_coin = []
            try:
                yield
            finally:
                self._one_coin = None

    def step(
        self,
        policy: Policy,
        queries: Sequence[Tensor | Array],
        predicted: Tensor | Array,
        instance: Tensor | None,
    ) -> Heads | None:
        """Choose the heads, solve them where S grows, and add what is found; ``None`` where there is no head."""
        at = [predicted] if self.grow_at == "predicted" else queries
        with self.lock:
            if self._one_coin and self.grow_at == "predicted":
                return None  # they were solved there already
            batch = 0 if self._one_coin else predicted.shape[0]
            coins = self._one_coin[0] if self._one_coin else self._flip(policy, at, queries, instance)
            (chosen,) = coins.nonzero()
            if not chosen.size:
                if self.ranks is None:
                    self.statistics.asked += batch
                else:  # the others may have found something
                    none = None if instance is None else instance[:0]
                    empty = torch.as_tensor(predicted).new_empty(0, self.problem.width)
                    self._insert(Growth(empty, none, asked=batch))
                return None
        positions = torch.from_numpy(chosen)
        if not isinstance(predicted, np.ndarray) and not predicted.is_cpu:
            positions = positions.to(predicted.device, non_blocking=True)
        with self.lock if self.starts is not None else nullcontext():
            solves = solve_heads(self.problem, at, positions, instance, self.starts)
        stop = solves.failed is not None and self.problem.on_failure == "raise"
        with self.lock:
            self._insert(solves.growth(asked=batch), stop=stop)
            if stop:
                solves.refuse_failures()
            if solves.failed is None:
                self.bound.learn(solves.costs, solves.ids, solves.solved.solution)
        return solves.heads()

    def _flip(
        self,
        policy: Policy,
        at: Sequence[Tensor | Array],
        queries: Sequence[Tensor | Array],
        instance: Tensor | None,
    ) -> Mask:
        """Mask of the instances that are solved exactly."""
        batch = Batch(at, queries, asked=self.statistics.asked, gaps_at=lambda costs: self._gaps(costs, instance))
        mask = checked_mask(policy, policy.choose(batch, self.coins.of_step(self.ranks)), batch.size)
        if self._one_coin is not None:
            self._one_coin.append(mask)
        return mask

    def _insert(self, growth: Growth, *, stop: bool = False) -> None:
        """Count a step and add what it found, on all ranks; with ``stop`` the step has failed and nothing is added."""
        start = time.perf_counter()
        used = self.statistics
        if self.ranks is not None:
            growth = exchange(self.ranks, growth._replace(lookups=self._lookups), stop=stop)
            self._lookups = 0
        used.asked += growth.asked
        used.solves += growth.solves
        used.failed += growth.failed
        used.lookups += growth.lookups
        if not stop and growth.rows.shape[0]:
            serves = None
            if self.store.instances is not None:
                join_members(self.problem, self.store)
                serves = served(self.problem, growth.rows, growth.ids)
            new = self.store.stage(growth.rows, serves)
            if new is not None:  # else ``SolutionCache.statistics`` counts them
                used.added += new
                used.hits += growth.rows.shape[0] - new
        used.seconds += time.perf_counter() - start

    def _gaps(self, costs: Tensor | Array, instance: Tensor | None) -> Floats | None:
        """Gaps for the policy, which enter the statistics; the bound may learn."""
        if self.bound.get() is None:
            return None
        gaps: Floats = self.bound.gaps(self.store, torch.as_tensor(costs), instance, note=True).cpu().numpy()
        self.statistics.add_gaps(gaps)
        return gaps
