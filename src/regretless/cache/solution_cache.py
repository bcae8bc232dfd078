"""The solution cache: an oracle around a problem that answers most queries by a look-up (Algorithm 2)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regretless.arrays import Array
from regretless.cache import cache_files
from regretless.cache.array_answers import answer_arrays
from regretless.cache.bounds import Bound, BoundKind
from regretless.cache.frozen_lookup import MOST_FROZEN, FrozenLookup
from regretless.cache.gaps import GapBound
from regretless.cache.growing import GrowAt, Growing
from regretless.cache.lookup import Objective
from regretless.cache.overlay import overlay
from regretless.cache.policies import Bernoulli, Coins, Policy, checked_policy
from regretless.cache.served_instances import check_instance, join_members, refuse_infeasible, served, sharing_note
from regretless.cache.statistics import CacheStatistics
from regretless.cache.store import Evict, SolutionStore
from regretless.cache.warm_starts import starts_for
from regretless.errors import InputError, RegretlessWarning, SolveError
from regretless.problem import Problem
from regretless.ranks import Ranks
from regretless.tensors import ids, in_dtype, tensor
from regretless.type_checks import check_type


class SolutionCache:
    """An oracle that stores solutions S and solves only some of the instances (Algorithm 2 of the paper).

    The coin is flipped per instance by the cache's own seeded generator. In a mini-batch all coins are flipped, the
    heads are solved in parallel, their solutions join S, and the rest is looked up in the grown S: an arg-min over S,
    which is an inner approximation of the feasible set.

    Args:
        problem: what to solve.
        solutions: ``(m, width)`` first members of S; in the paper the true optima of the training set.
        instance: ``(m,)`` ids of these, for families.
        p_solve: probability of a solve per instance.
        seed: of the coin.
        policy: decides which instances are solved, in place of ``p_solve``.
        grow_at: ``"predicted"`` (what the published tables did): heads are solved at the predicted costs and join S,
            then *every* instance is looked up at its transformed cost. ``"transformed"`` (as Algorithm 2 is printed):
            heads are solved at the transformed cost and that solution is used.
        capacity: largest number of solutions.
        evict: which solution is dropped from a full cache: the one ``"unused"`` for longest, or the ``"oldest"``.
        dtype: of the stored solutions.
        bound: lower bound for gap policies: ``"own"`` of the problem, ``"lagrangian"``, ``"linear"`` (one more LP where
            the Lagrangian bound leaves a gap) or a bound; by default the first of these that the problem has.
        warm_start: start exact solves by an engine from the best decision found so far. This may change which of
            several optima is found; the gain depends on engine and model (``benchmarks/warm_start.py``).

    Several threads may use one cache, each with a loss of its own: a loss holds the state of its step. Threads solve at
    the same time and take turns at S, except where a solve depends on an earlier one (``one_coin``, ``warm_start``).
    Which thread comes first is chance, and with it S. Inside of ``with cache.lock:`` S does not change. With a
    ``capacity``, what ``solutions`` returned is overwritten when members are dropped.

    >>> problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=2)
    >>> cache = SolutionCache(problem, [[1.0, 0.0], [0.0, 1.0]], p_solve=0.0)
    >>> cache(torch.tensor([[3.0, 2.0]])).tolist()
    [[0.0, 1.0]]
    """

    def __init__(
        self,
        problem: Problem,
        solutions: Any = None,
        *,
        instance: Any = None,
        p_solve: float = 0.05,
        seed: int = 0,
        policy: Policy | None = None,
        grow_at: GrowAt = "predicted",
        capacity: int | None = None,
        evict: Evict = "unused",
        dtype: torch.dtype | None = None,
        bound: BoundKind | Bound | None = None,
        warm_start: bool = False,
    ) -> None:
        check_type("problem", problem, Problem, hint="build it with Problem(model)")
        self.problem = problem
        self.policy: Policy = Bernoulli(p_solve) if policy is None else checked_policy(policy)
        self.store = SolutionStore(
            problem.width,
            instances=problem.instances,
            capacity=capacity,
            evict=evict,
            dtype=dtype or torch.get_default_dtype(),
        )
        self._statistics = CacheStatistics()
        self._growing = Growing(
            problem,
            self.store,
            self._statistics,
            grow_at=grow_at,
            coins=Coins(seed),
            bound=GapBound(problem, bound),
            starts=starts_for(problem) if warm_start else None,
        )
        note = sharing_note(problem)
        if note:
            warnings.warn(note, RegretlessWarning, stacklevel=2)
        if solutions is not None:
            self.add(solutions, instance)

    def __repr__(self) -> str:
        return f"SolutionCache({self.problem.name or 'unnamed'}, size={len(self)}, policy={self.policy})"

    def __len__(self) -> int:
        with self.lock:
            return self.store.size

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Keeps other threads from S inside of a ``with`` block."""
        return self._growing.lock

    @property
    def statistics(self) -> CacheStatistics:
        """Counters of solves and look-ups; on a GPU, read them here again to see which later solutions were new."""
        with self.lock:
            new, repeated = self.store.collect()
            self._statistics.added += new
            self._statistics.hits += repeated
            return self._statistics

    @property
    def solutions(self) -> Tensor:
        """``(|S|, width)`` the solutions in S."""
        with self.lock:
            return self.store.rows

    @property
    def warm_start(self) -> bool:
        """Whether exact solves start from the best decision found so far."""
        return self._growing.starts is not None

    @property
    def grow_at(self) -> GrowAt:
        """Costs at which heads are solved."""
        return self._growing.grow_at

    @property
    def bound(self) -> Bound | None:
        """The lower bound, built on first use; ``None`` where the problem has none."""
        return self._growing.bound.get()

    @property
    def bound_kind(self) -> BoundKind | Bound | None:
        """The setting ``bound``."""
        return self._growing.bound.kind

    @property
    def seed(self) -> int:
        """Seed of the coin."""
        return self._growing.coins.seed

    @property
    def ranks(self) -> Ranks | None:
        """The ranks that share this cache, or ``None``."""
        return self._growing.ranks

    def share(self, group: Any = None) -> SolutionCache:
        """Let all ranks of a data-parallel training hold one S from now on; every rank must call this.

        S becomes the union of what the ranks hold. In every step the solutions that any rank found are gathered and
        inserted in the order of ranks, so that S is the same on all of them after every step. Each rank flips its own
        coins, seeded by ``seed``, its number and the step. The statistics count the solves of all ranks.

        Every rank must then do the same number of steps, and ``add`` and ``merge`` the same solutions.

        Args:
            group: a process group of torch, or ``Ranks``; by default all processes.

        Returns:
            The cache itself.

        Raises:
            InputError: torch.distributed is not initialized, the ranks have different problems, or the cache drops
                solutions by their use, which differs between ranks.
        """
        self._growing.share(group if isinstance(group, Ranks) else Ranks(group))
        return self

    def synchronize(self) -> None:
        """Bring the statistics of a shared cache up to date with the look-ups of all ranks; all must call this."""
        self._growing.synchronize()

    def add(self, solutions: Any, instance: Any = None) -> int:
        """Add feasible solutions, and return how many were new.

        Args:
            solutions: ``(m, width)`` in cost space.
            instance: ``(m,)`` ids of the instances that they were found for, for families.
        """
        rows = tensor("solutions", solutions)
        if rows.ndim != 2 or rows.shape[1] != self.problem.width:
            raise InputError(f"solutions must have shape (m, {self.problem.width}), got {tuple(rows.shape)}")
        if not torch.isfinite(rows).all():
            raise InputError("solutions must be finite, got NaN or infinite values")
        members = ids(instance)
        refuse_infeasible(self.problem, rows, members)
        with self.lock:
            check_instance(self.problem, self.store, members, len(rows))
            return self.store.add(rows, served(self.problem, rows, members))

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Answer ``(batch, width)`` minimizing costs."""
        return self.answer([costs], costs, instance)[0]

    def answer(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> list[Tensor]:
        """Do one step of Algorithm 2 for a batch; see ``regretless.oracle.Oracle``."""
        queries = [query.detach() if query.requires_grad else query for query in queries]
        predicted, growing = predicted.detach() if predicted.requires_grad else predicted, self._growing
        heads = growing.step(self.policy, queries, predicted, instance)
        failed = None if heads is None else heads.failed_positions
        left_out = failed if self.problem.on_failure == "skip" else None
        if failed is not None and self.problem.on_failure == "cache" and len(self) == 0:
            raise SolveError("every solve of the step failed and the cache is empty: nothing to train on")
        solved = heads if self.grow_at == "transformed" else None
        answers, looked_up = overlay(queries, instance, solved, left_out, self._best_members)
        growing.count_lookups(looked_up * len(queries))
        return answers

    def answer_arrays(self, queries: Sequence[Array], predicted: Array) -> list[Array] | None:
        """``answer`` for arrays, for losses of problems that raise failures; ``None`` for families."""
        if self.store.instances is not None:
            return None
        return answer_arrays(self._growing, self.policy, queries, predicted, self._best_members)

    def one_coin(self) -> AbstractContextManager[None]:
        """Flip one coin per instance for all answers inside of the block, for losses whose queries follow from answers.

        With ``grow_at="transformed"`` the same instances are solved at every query. With ``"predicted"`` they are
        solved at the first one, and everything is looked up in the S of that moment.
        """
        return self._growing.one_coin()

    def grow(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> Tensor | None:
        """Flip the coins, solve the heads and add their solutions to S.

        Returns:
            Positions in the batch of failed solves, or ``None`` where there is none.
        """
        queries = [query.detach() if query.requires_grad else query for query in queries]
        heads = self._growing.step(self.policy, queries, predicted.detach(), instance)
        return None if heads is None else heads.failed_positions

    def look_up(
        self, queries: Sequence[Tensor], instance: Tensor | None = None, objective: Objective | None = None
    ) -> list[Tensor]:
        """Best member of S for every query ``(batch, width)``, without a solve."""
        found = self._best_members(queries, instance, objective)
        self._growing.count_lookups(sum(query.shape[0] for query in queries))
        return found

    def _best_members(
        self, queries: Sequence[Tensor], instance: Tensor | None = None, objective: Objective | None = None
    ) -> list[Tensor]:
        start = time.perf_counter()
        costs = queries[0] if len(queries) == 1 else torch.cat(list(queries))
        self.problem.check_costs(costs)
        members = instance if instance is None or len(queries) == 1 else instance.repeat(len(queries))
        with self._growing.lock:
            if members is not None or self.store.instances is not None:
                check_instance(self.problem, self.store, members, len(costs))
            found = in_dtype(self.store.best(costs, members, objective), costs.dtype)
            self._statistics.seconds += time.perf_counter() - start
        return [found] if len(queries) == 1 else list(found.chunk(len(queries)))

    def frozen_lookup(self, costs: Tensor) -> FrozenLookup | None:
        """Look-ups of batches like ``costs`` that a CUDA graph can hold, or ``None`` where steps differ too much.

        What is answered has to be counted, by ``count_lookups``.
        """
        # Other policies may want gaps at the costs of the look-ups, which a graph computes after the solves.
        if self.grow_at != "predicted" or type(self.policy) is not Bernoulli or self.problem.on_failure != "raise":
            return None
        with self.lock:  # columns behind those in use are written
            self.store.to(costs.device)
            columns = self.store.reserved_columns()
        if columns is None or not 0 < costs.shape[0] * columns.shape[1] <= MOST_FROZEN:
            return None
        return FrozenLookup(columns)

    def count_lookups(self, count: int) -> None:
        """Count look-ups by ``frozen_lookup``."""
        self._growing.count_lookups(count)

    def gaps(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Certified relative gaps ``(batch,)`` of the best members of S at minimizing costs ``(batch, width)``.

        The optimum lies between the bound and the best cached value; see ``regretless.cache.gaps``. Nothing is solved,
        and the bound does not change.

        Raises:
            InputError: the problem has no bound, or the costs are not finite or of the wrong shape.
        """
        with self.lock:
            return self._growing.bound.gaps(self.store, costs, instance, note=False)

    def prepare(self, costs: Tensor, instance: Tensor | None = None) -> None:
        """Set training costs ``(m, width)``, minimizing, from which the bound takes its first multipliers."""
        with self.lock:
            self._growing.bound.prepare(costs, instance)

    def diagnostics(self) -> dict[str, float]:
        """Mean and largest certified gap that the policy used since the last call, before any solve."""
        return self.statistics.report()

    def merge(self, other: SolutionCache) -> int:
        """Add the solutions of another cache of the same problem (another run or rank); return how many are new."""
        check_type("other", other, SolutionCache)
        if other.problem.fingerprint != self.problem.fingerprint:
            raise InputError("caches of different problems cannot be merged: their fingerprints differ")
        with other.lock:  # not both at once: the other thread may merge the other way round
            join_members(other.problem, other.store)  # a family may have grown since it was used
            rows, serves = other.store.rows.clone(), other.store.serves
            serves = None if serves is None else serves.clone()
        with self.lock:
            join_members(self.problem, self.store)
            return self.store.add(rows, serves)

    def state_dict(self) -> dict[str, Any]:
        """Solutions, coin, statistics and settings, as plain data and tensors."""
        how = self._growing
        with self.lock:
            join_members(self.problem, self.store)  # the fingerprint is that of all members
            return {
                "fingerprint": self.problem.fingerprint,
                "store": self.store.state_dict(),
                **how.coins.state_dict(),
                "ranks": 1 if how.ranks is None else how.ranks.size,
                "statistics": asdict(self.statistics),
                "bound": how.bound.state_dict(),
                "starts": None if how.starts is None else how.starts.state_dict(),
                "settings": cache_files.settings_of(self),
            }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from ``state``; one of another problem or of another number of ranks is refused.

        The state of a family serves it also after members were added.
        """
        how = self._growing
        before = cache_files.fingerprint_at(state, self.problem)
        cache_files.refuse_foreign(state, before, 1 if how.ranks is None else how.ranks.size)
        with self.lock:
            self.store.load_state_dict(state["store"])
            join_members(self.problem, self.store)
            how.coins.load_state_dict(state)
            self.statistics.load_state_dict(state["statistics"])
            how.forget_lookups()
            how.bound.load_state_dict(state.get("bound"))
            if state.get("starts") is not None and how.starts is not None:
                how.starts.load_state_dict(state["starts"])

    def save(self, path: Path | str) -> None:
        """Write the cache to one file, atomically and without pickle."""
        cache_files.save(path, self.state_dict())

    @classmethod
    def load(cls, path: Path | str, problem: Problem, **settings: Any) -> SolutionCache:
        """Read a cache with all its settings; ``settings`` of the constructor take precedence over the file's.

        The coin continues where it was saved; with ``seed=`` it starts anew.
        """
        check_type("problem", problem, Problem, hint="load takes the path first, then the problem")
        state = cache_files.load(path) | {"ranks": 1, "steps": 0}  # a file serves any number of ranks
        if "seed" in settings:
            state |= Coins(settings["seed"]).state_dict()
        return cache_files.restored(path, state, lambda saved: cls(problem, **(saved | settings)), settings)
