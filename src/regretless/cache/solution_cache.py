"""The solution cache: an oracle around a problem that answers most queries by a look-up (Algorithm 2)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.cache import cache_files
from regretless.cache.bounds import Bound, BoundKind, make_bound
from regretless.cache.gaps import relative_gaps
from regretless.cache.growth_exchange import Growth, exchange
from regretless.cache.lookup import Objective
from regretless.cache.overlay import Heads, overlay
from regretless.cache.policies import Bernoulli, GapAt, Mask, Policy
from regretless.cache.policy_names import policy_settings
from regretless.cache.statistics import CacheStatistics
from regretless.cache.store import Evict, SolutionStore
from regretless.cache.warm_starts import WarmStarts
from regretless.errors import InputError, RegretlessWarning, SolveError
from regretless.family import member
from regretless.problem import Problem
from regretless.ranks import Ranks
from regretless.solvers.checked_solve import refuse_failures

GrowAt = Literal["predicted", "transformed"]


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
        if grow_at not in ("predicted", "transformed"):
            raise InputError(f"grow_at must be 'predicted' or 'transformed', got {grow_at!r}")
        if seed < 0:
            raise InputError(f"seed must be at least 0, got {seed}")
        self.problem, self.grow_at, self.seed = problem, grow_at, seed
        self.policy: Policy = Bernoulli(p_solve) if policy is None else policy
        self.store = SolutionStore(
            problem.width,
            instances=problem.instances,
            capacity=capacity,
            evict=evict,
            dtype=dtype or torch.get_default_dtype(),
        )
        self.statistics = CacheStatistics()
        self._generator = np.random.default_rng(seed)
        self._one_coin: list[Mask] | None = None  # inside of a block of ``one_coin``: the coins, once they are flipped
        self._ranks: Ranks | None = None
        self._steps, self._lookups = 0, 0  # of a shared cache: steps done, and look-ups since the last one
        self._bound_kind = bound
        self._bound: Bound | None = None
        self._bound_seeds: tuple[Tensor, Tensor | None] | None = None
        if bound is not None:
            self._bound = make_bound(problem, bound)
        self._warm_starts: WarmStarts | None = None
        if warm_start:
            if not problem.engine or problem.model is None:
                raise InputError(
                    f"warm_start=True needs an engine, and here {problem.solver} solves: use warm_start=False"
                )
            self._warm_starts = WarmStarts(problem.width, member(problem.model).n)
        note = problem.sharing_note()
        if note:
            warnings.warn(note, RegretlessWarning, stacklevel=2)
        if solutions is not None:
            self.add(solutions, instance)

    def __repr__(self) -> str:
        return f"SolutionCache({self.problem.name or 'unnamed'}, size={len(self)}, policy={self.policy})"

    def __len__(self) -> int:
        return self.store.size

    @property
    def solutions(self) -> Tensor:
        """``(|S|, width)`` the solutions in S."""
        return self.store.rows

    @property
    def warm_start(self) -> bool:
        """Whether exact solves start from the best decision found so far."""
        return self._warm_starts is not None

    @property
    def bound(self) -> Bound | None:
        """The lower bound, built on first use; ``None`` where the problem has none."""
        if self._bound is None:
            self._bound = make_bound(self.problem, self._bound_kind)
        if self._bound is not None and self._bound_seeds is not None:
            seeds, self._bound_seeds = self._bound_seeds, None
            self._bound.seed(*seeds)
        return self._bound

    @property
    def ranks(self) -> Ranks | None:
        """The ranks that share this cache, or ``None``."""
        return self._ranks

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
        ranks = group if isinstance(group, Ranks) else Ranks(group)
        if self.store.capacity is not None and self.store.evict == "unused":
            raise InputError(
                "ranks use different solutions, so a shared cache cannot drop the one unused for longest: build it "
                "with evict='oldest' or without a capacity"
            )
        if len(set(ranks.gather_objects((self.problem.fingerprint, self.seed, self.grow_at)))) > 1:
            raise InputError("ranks that share a cache need the same problem, seed and grow_at")
        rows, serves = ranks.gather_rows(self.solutions), self.store.serves
        self.store.clear()
        self.store.add(rows, None if serves is None else ranks.gather_rows(serves.T).T)
        self._ranks = ranks
        return self

    def synchronize(self) -> None:
        """Bring the statistics of a shared cache up to date with the look-ups of all ranks; all must call this."""
        if self._ranks is not None:
            self._insert(Growth(torch.empty(0, self.problem.width)))

    def add(self, solutions: Any, instance: Any = None) -> int:
        """Add feasible solutions, and return how many were new.

        Args:
            solutions: ``(m, width)`` in cost space.
            instance: ``(m,)`` ids of the instances that they were found for, for families.
        """
        rows = torch.as_tensor(solutions)
        if rows.ndim != 2 or rows.shape[1] != self.problem.width:
            raise InputError(f"solutions must have shape (m, {self.problem.width}), got {tuple(rows.shape)}")
        if not torch.isfinite(rows).all():
            raise InputError("solutions must be finite, got NaN or infinite values")
        ids = None if instance is None else torch.as_tensor(instance, dtype=torch.int64)
        self._check_instance(ids, len(rows))
        return self.store.add(rows, self._serves(rows, ids))

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Answer ``(batch, width)`` minimizing costs."""
        return self.answer([costs], costs, instance)[0]

    def answer(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> list[Tensor]:
        """Do one step of Algorithm 2 for a batch; see ``regretless.problem.Oracle``."""
        queries, predicted = [query.detach() for query in queries], predicted.detach()
        heads = self._solve_heads(queries, predicted, instance)
        failed = None if heads is None else heads.failed_positions
        left_out = failed if self.problem.on_failure == "skip" else None
        if len(self) == 0 and failed is not None and self.problem.on_failure == "cache":
            raise SolveError("every solve of the step failed and the cache is empty: nothing to train on")
        solved = heads if self.grow_at == "transformed" else None
        return overlay(queries, instance, solved, left_out, self.look_up)

    @contextmanager
    def one_coin(self) -> Iterator[None]:
        """Flip one coin per instance for all answers inside of the block, for losses whose queries follow from answers.

        With ``grow_at="transformed"`` the same instances are solved at every query. With ``"predicted"`` they are
        solved at the first one, and everything is looked up in the S of that moment.
        """
        if self._ranks is not None and self.grow_at == "transformed":
            raise InputError(
                "a loss that queries its oracle several times per step, not equally often on every rank, needs a "
                "shared cache with grow_at='predicted'"
            )
        self._one_coin = []
        try:
            yield
        finally:
            self._one_coin = None

    def grow(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> Tensor | None:
        """Flip the coins, solve the heads and add their solutions to S.

        Returns:
            Positions in the batch of failed solves, or ``None`` where there is none.
        """
        heads = self._solve_heads([query.detach() for query in queries], predicted.detach(), instance)
        return None if heads is None else heads.failed_positions

    def look_up(
        self, queries: Sequence[Tensor], instance: Tensor | None = None, objective: Objective | None = None
    ) -> list[Tensor]:
        """Best member of S for every query ``(batch, width)``, without a solve."""
        start = time.perf_counter()
        costs = queries[0] if len(queries) == 1 else torch.cat(list(queries))
        self._check_costs(costs)
        ids = instance if instance is None or len(queries) == 1 else instance.repeat(len(queries))
        if self.problem.instances is not None or ids is not None:
            self._check_instance(ids, len(costs))
        found = self.store.take(self.store.look_up(costs, ids, objective)).to(costs.dtype)
        if self._ranks is None:
            self.statistics.lookups += costs.shape[0]
        else:
            self._lookups += costs.shape[0]
        self.statistics.seconds += time.perf_counter() - start
        return [found] if len(queries) == 1 else list(found.chunk(len(queries)))

    def gaps(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Certified relative gaps ``(batch,)`` of the best members of S at minimizing costs ``(batch, width)``.

        The optimum lies between the bound and the best cached value; see ``regretless.cache.gaps``. Nothing is solved,
        and the bound does not change.

        Raises:
            InputError: the problem has no bound, or the costs are not finite or of the wrong shape.
        """
        return self._gaps(costs, instance, note=False)

    def prepare(self, costs: Tensor, instance: Tensor | None = None) -> None:
        """Set training costs ``(m, width)``, minimizing, from which the bound takes its first multipliers."""
        self._bound_seeds = (costs, instance)

    def diagnostics(self) -> dict[str, float]:
        """Mean and largest certified gap that the policy used since the last call, before any solve."""
        return self.statistics.report()

    def merge(self, other: SolutionCache) -> int:
        """Add the solutions of another cache of the same problem (another run or rank); return how many are new."""
        if other.problem.fingerprint != self.problem.fingerprint:
            raise InputError("caches of different problems cannot be merged: their fingerprints differ")
        return self.store.add(other.store.rows, other.store.serves)

    def state_dict(self) -> dict[str, Any]:
        """Solutions, coin, statistics and settings, as plain data and tensors."""
        return {
            "fingerprint": self.problem.fingerprint,
            "store": self.store.state_dict(),
            "coin": self._generator.bit_generator.state,
            "ranks": 1 if self._ranks is None else self._ranks.size,
            "steps": self._steps,
            "statistics": asdict(self.statistics),
            "bound": None if self._bound is None else self._bound.state_dict(),
            "starts": None if self._warm_starts is None else self._warm_starts.state_dict(),
            "settings": {
                "grow_at": self.grow_at,
                "seed": self.seed,
                "capacity": self.store.capacity,
                "evict": self.store.evict,
                "warm_start": self.warm_start,
                "bound": self._bound_kind if isinstance(self._bound_kind, str | None) else cache_files.UNNAMED,
                "policy": policy_settings(self.policy) or cache_files.UNNAMED,
            },
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from ``state``; one of another problem or of another number of ranks is refused."""
        if state["fingerprint"] != self.problem.fingerprint:
            raise InputError(
                f"this cache belongs to another problem: its fingerprint is {state['fingerprint']}, "
                f"the problem's is {self.problem.fingerprint}"
            )
        here, there = 1 if self._ranks is None else self._ranks.size, state.get("ranks", 1)
        if here != there:
            raise InputError(
                f"this cache was shared by {there} ranks and is held by {here} now: resume with {there} ranks (call "
                "share() first), or read only its solutions with merge()"
            )
        self._steps, self._lookups = state.get("steps", 0), 0
        self.store.load_state_dict(state["store"])
        self._generator.bit_generator.state = state["coin"]
        self.statistics = CacheStatistics(**state["statistics"])
        if state.get("bound") is not None:
            self._bound_seeds = None
            if self.bound is not None:
                self.bound.load_state_dict(state["bound"])
        if state.get("starts") is not None and self._warm_starts is not None:
            self._warm_starts.load_state_dict(state["starts"])

    def save(self, path: Path | str) -> None:
        """Write the cache to one file, atomically and without pickle."""
        cache_files.save(path, self.state_dict())

    @classmethod
    def load(cls, path: Path | str, problem: Problem, **settings: Any) -> SolutionCache:
        """Read a cache with all its settings; ``settings`` of the constructor take precedence over the file's."""
        state = cache_files.load(path) | {"ranks": 1, "steps": 0}  # a file serves any number of ranks
        return cache_files.restored(path, state, lambda saved: cls(problem, **(saved | settings)), settings)

    def _solve_heads(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None) -> Heads | None:
        """Choose the heads, solve them where S grows, and add what is found; ``None`` where there is no head."""
        at = [predicted] if self.grow_at == "predicted" else queries
        if self._one_coin and self.grow_at == "predicted":
            return None  # they were solved there already
        batch = 0 if self._one_coin else predicted.shape[0]
        chosen = np.flatnonzero(self._one_coin[0] if self._one_coin else self._flip(at, queries, instance))
        if not chosen.size:
            if self._ranks is None:
                self.statistics.asked += batch
            else:  # the others may have found something
                none = None if instance is None else instance[:0]
                self._insert(Growth(predicted.new_empty(0, self.problem.width), none, asked=batch))
            return None
        heads = torch.from_numpy(chosen).to(predicted.device)
        chosen_costs = [query.index_select(0, heads) for query in at]
        costs = chosen_costs[0] if len(at) == 1 else torch.cat(chosen_costs)
        ids = None if instance is None else instance[heads].repeat(len(at))
        starts = None if self._warm_starts is None else self._warm_starts.best(costs, ids)
        solved = self.problem.attempt(costs, ids, decision=starts is not None, starts=starts)
        if self._warm_starts is not None:
            self._warm_starts.add(solved, ids)
        rows, whose, failed = solved.solution, ids, None
        if solved.status is not None and not bool((found := solved.found).all()):
            rows, whose, failed = rows[found], None if ids is None else ids[found], ~found
        stop = failed is not None and self.problem.on_failure == "raise"
        lost = 0 if failed is None else int(failed.sum())
        self._insert(Growth(rows, whose, asked=batch, solves=costs.shape[0], failed=lost), stop=stop)
        if stop:
            refuse_failures(solved, ids, chosen.tolist() * len(at))
        if self._bound is not None and failed is None:
            exact = (costs.to(torch.float64) * solved.solution.to(torch.float64)).sum(dim=1)
            self._bound.learn(costs, ids, exact)
        solutions = list(solved.solution.chunk(len(at)))
        return Heads(heads, solutions, None if failed is None else failed.view(len(at), -1).any(dim=0))

    def _flip(self, at: Sequence[Tensor], queries: Sequence[Tensor], instance: Tensor | None) -> Mask:
        """Mask of the instances that are solved exactly."""
        mask = self.policy.choose(_BatchView(self, at, queries, instance), self._coins())
        if self._one_coin is not None:
            self._one_coin.append(mask)
        return mask

    def _insert(self, growth: Growth, *, stop: bool = False) -> None:
        """Count a step and add what it found, on all ranks; with ``stop`` the step has failed and nothing is added."""
        start = time.perf_counter()
        used = self.statistics
        if self._ranks is not None:
            growth = exchange(self._ranks, replace(growth, lookups=self._lookups), stop=stop)
            self._lookups = 0
        used.asked += growth.asked
        used.solves += growth.solves
        used.failed += growth.failed
        used.lookups += growth.lookups
        count = 0 if stop else growth.rows.shape[0]
        if count:
            new = self.store.add(growth.rows, self._serves(growth.rows, growth.ids))
            used.added += new
            used.hits += count - new
        used.seconds += time.perf_counter() - start

    def _coins(self) -> np.random.Generator:
        """The generator of this step's coins.

        Ranks of a shared cache have a generator per step: no rank needs the others' to continue from a checkpoint.
        """
        if self._ranks is None:
            return self._generator
        self._steps += 1
        return np.random.default_rng([self.seed, self._ranks.rank, self._steps])

    def _gaps(self, costs: Tensor, instance: Tensor | None, *, note: bool) -> Tensor:
        if self.bound is None:
            raise InputError("gaps need a bound, and this problem has neither a MILP nor a bound function")
        self._check_costs(costs)
        self._check_instance(instance, len(costs))
        return relative_gaps(self.store, self.bound, costs, instance, note=note)

    def _check_costs(self, costs: Tensor) -> None:
        if costs.ndim != 2 or costs.shape[1] != self.problem.width:
            raise InputError(f"costs must have shape (batch, {self.problem.width}), got {tuple(costs.shape)}")

    def _check_instance(self, instance: Tensor | None, batch: int) -> None:
        """Refuse unknown instances, and take over members that joined the family since the last call."""
        self.problem.check_instance(instance, batch)
        known = self.store.instances
        if known is not None and self.problem.instances is not None and self.problem.instances > known:
            new = range(known, self.problem.instances)
            serves = self.problem.feasible(self.store.rows, new)
            self.store.add_instances(torch.zeros(len(new), len(self), dtype=torch.bool) if serves is None else serves)

    def _serves(self, rows: Tensor, ids: Tensor | None) -> Tensor | None:
        """Mask of the instances that each row serves: by the model where it can tell, else only its own instance."""
        if self.problem.instances is None or ids is None:
            return None
        serves = self.problem.feasible(rows)
        if serves is None:
            serves = torch.zeros(self.problem.instances, len(rows), dtype=torch.bool, device=rows.device)
        # A solution is feasible for the instance that it was solved for, whatever a tolerance says.
        serves[ids.to(rows.device), torch.arange(len(rows), device=rows.device)] = True
        return serves


class _BatchView:
    """What a policy sees of a batch; see ``regretless.cache.policies.Batch``."""

    def __init__(
        self, cache: SolutionCache, at: Sequence[Tensor], queries: Sequence[Tensor], instance: Tensor | None
    ) -> None:
        self._cache, self._at, self._queries, self._instance = cache, at, queries, instance
        self.size = at[0].shape[0]
        self.asked = cache.statistics.asked

    def gaps(self, at: GapAt) -> NDArray[np.float64] | None:
        """Largest gap of each instance over its cost vectors; it enters the statistics, and the bound may learn."""
        if self._cache.bound is None:
            return None
        found = []
        for costs in self._at if at == "solve" else self._queries:
            gaps = self._cache._gaps(costs, self._instance, note=True).cpu().numpy()
            self._cache.statistics.add_gaps(gaps)
            found.append(gaps)
        largest: NDArray[np.float64] = np.stack(found).max(axis=0)
        return largest
