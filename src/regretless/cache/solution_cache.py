"""The solution cache: an oracle that wraps another and answers most queries by a look-up (Algorithm 2)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regretless.cache import cache_files as files
from regretless.cache.bounds import Bound, BoundKind, make_bound
from regretless.cache.gaps import relative_gaps
from regretless.cache.mixing import mixed, picked_rows
from regretless.cache.policies import Bernoulli, ByGap, Policy
from regretless.cache.scan import Objective
from regretless.cache.statistics import CacheStatistics
from regretless.cache.store import Evict, SolutionStore
from regretless.cache.warm_starts import WarmStarts
from regretless.errors import FileError, InputError, RegretlessError
from regretless.family import member
from regretless.problem import Problem
from regretless.solvers.checked_solve import refuse_failures

GrowAt = Literal["predicted", "transformed"]


class SolutionCache:
    """An oracle that keeps solutions S and solves only now and then (Algorithm 2 of the paper).

    The coin is flipped for each instance by the cache's own seeded generator. In a mini-batch all coins are flipped,
    the heads are solved (in parallel), their solutions join S, and the rest is looked up in the grown S: an arg-min
    over S, which is an inner approximation of the feasible set.

    Args:
        problem: what to solve.
        solutions: ``(m, width)`` first members of S, by the paper the true optima of the training set.
        instance: ``(m,)`` ids of these, for families.
        p_solve: probability of a solve, instance by instance.
        seed: of the coin.
        policy: decides which instances are solved, in place of ``p_solve``.
        grow_at: ``"predicted"`` (what the published tables did): heads are solved at the predicted costs and join S,
            then *every* instance looks S up at its transformed cost. ``"transformed"`` (as Algorithm 2 is printed):
            heads are solved at the transformed cost and that solution is the one used.
        capacity: most solutions to keep.
        evict: which goes first when full: ``"unused"`` for longest, or the ``"oldest"``.
        dtype: of the stored solutions.
        bound: from below, for gap policies: ``"own"`` of the problem, ``"lagrangian"``, ``"linear"`` (one more LP where
            the Lagrangian bound leaves a gap) or a bound; by default the first of them that the problem has.
        warm_start: start exact solves by an engine from the best decision found so far. Which of several optima is
            found may then change; what it saves depends on engine and model (``benchmarks/warm_start.py``).

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
        self._bound_kind = bound
        self._bound: Bound | None = None
        if bound is not None:
            self._bound = make_bound(problem, bound)
        self._starts: WarmStarts | None = None
        if warm_start:
            if not problem.engine or problem.model is None:
                raise InputError(f"warm_start=True needs an engine, and here {problem.solver} solves: leave it out")
            self._starts = WarmStarts(problem.width, member(problem.model).n)
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
        return self._starts is not None

    @property
    def bound(self) -> Bound | None:
        """The bound from below, made when it is first asked for; ``None`` where the problem has none."""
        if self._bound is None:
            self._bound = make_bound(self.problem, self._bound_kind)
        return self._bound

    def add(self, solutions: Any, instance: Any = None) -> int:
        """Add feasible solutions, and return how many were new.

        Args:
            solutions: ``(m, width)`` in cost space.
            instance: ``(m,)`` ids of the instances they were found for, for families.
        """
        rows = torch.as_tensor(solutions)
        if rows.ndim != 2 or rows.shape[1] != self.problem.width:
            raise InputError(f"solutions must have shape (m, {self.problem.width}), got {tuple(rows.shape)}")
        if not torch.isfinite(rows).all():
            raise InputError("solutions must be finite, got NaN or infinite values")
        ids = None if instance is None else torch.as_tensor(instance, dtype=torch.int64)
        self.problem.check_instance(ids, len(rows))
        return self.store.add(rows, self._serves(rows, ids))

    def __call__(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Answer ``(batch, width)`` minimising costs."""
        return self.answer([costs], costs, instance)[0]

    def answer(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> list[Tensor]:
        """One step of Algorithm 2 for a batch; see ``regretless.problem.Oracle``."""
        queries, predicted = [query.detach() for query in queries], predicted.detach()
        heads: Tensor | None = None
        solved: list[Tensor] = []
        if self.grow_at == "predicted":
            _, failed = self.grow(queries, predicted, instance)
        else:
            heads, solved, failed = self._flip(queries, queries, predicted, instance)
        left_out = failed if self.problem.on_failure == "skip" else None
        return mixed(self, queries, heads, solved, instance, left_out, whole=failed is None)

    def grow(
        self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None
    ) -> tuple[int, Tensor | None]:
        """Flip the coins, solve the heads and add what they find.

        Returns:
            How many solutions were new, and positions of failed solves (``None`` where all went well).
        """
        before = self.statistics.added
        at = [predicted.detach()] if self.grow_at == "predicted" else [query.detach() for query in queries]
        _, _, failed = self._flip(at, queries, predicted.detach(), instance)
        return self.statistics.added - before, failed

    @overload
    def look_up(
        self, queries: Sequence[Tensor], instance: Tensor | None = None, objective: Objective | None = None
    ) -> list[Tensor]: ...

    @overload
    def look_up(
        self,
        queries: Sequence[Tensor],
        instance: Tensor | None = None,
        objective: Objective | None = None,
        *,
        return_gap: Literal[True],
    ) -> tuple[list[Tensor], list[Tensor]]: ...

    def look_up(
        self,
        queries: Sequence[Tensor],
        instance: Tensor | None = None,
        objective: Objective | None = None,
        *,
        return_gap: bool = False,
    ) -> list[Tensor] | tuple[list[Tensor], list[Tensor]]:
        """Best member of S for every query, with no solve; with ``return_gap`` also its certified gaps ``(batch,)``."""
        start = time.perf_counter()
        costs = queries[0] if len(queries) == 1 else torch.cat(list(queries))
        if costs.ndim != 2 or costs.shape[1] != self.problem.width:
            raise InputError(f"costs must have shape (batch, {self.problem.width}), got {tuple(costs.shape)}")
        ids = instance if instance is None or len(queries) == 1 else instance.repeat(len(queries))
        if self.problem.instances is not None or ids is not None:
            self.problem.check_instance(ids, len(costs))
        position = self.store.look_up(costs, ids, objective)
        found = self.store.rows.index_select(0, position).to(costs.dtype)
        self.statistics.lookups += costs.shape[0]
        self.statistics.seconds += time.perf_counter() - start
        answers = [found] if len(queries) == 1 else list(found.chunk(len(queries)))
        if not return_gap:
            return answers
        if objective is not None:
            raise InputError("gaps are certified for the linear objective only: leave out objective= or return_gap=")
        return answers, [self.gaps(query, instance) for query in queries]

    def gaps(self, costs: Tensor, instance: Tensor | None = None) -> Tensor:
        """Certified relative gaps ``(batch,)`` of the best members of S at minimising costs ``(batch, width)``.

        The optimum lies between the bound and the best cached value; see ``regretless.cache.gaps``. Nothing is solved
        and nothing is learned.

        Raises:
            InputError: the problem has no bound, or the costs are not finite or of the wrong shape.
        """
        return self._gaps(costs, instance, note=False)

    def note_gaps(self, costs: Tensor, instance: Tensor | None = None) -> NDArray[np.float64]:
        """The same as a step of a run, for policies: the gaps enter the statistics, and the bound may learn."""
        found: NDArray[np.float64] = self._gaps(costs, instance, note=True).cpu().numpy()
        self.statistics.saw(found)
        return found

    def prepare(self, costs: Tensor, instance: Tensor | None = None) -> None:
        """Seed the bound's multipliers from the relaxation at training costs ``(m, width)``, minimising."""
        if self.bound is not None:
            self.bound.seed(costs, instance)

    def diagnostics(self) -> dict[str, float]:
        """Mean and largest certified gap that the policy saw since the last call, before it solved anything."""
        return self.statistics.report()

    def merge(self, other: SolutionCache) -> int:
        """Add the solutions of another cache of the same problem (another run or rank); return how many are new."""
        if other.problem.fingerprint != self.problem.fingerprint:
            raise InputError("caches of different problems cannot be merged: their fingerprints differ")
        return self.store.add(other.store.rows, other.store.serves)

    def state_dict(self) -> dict[str, Any]:
        """Solutions, coin and statistics, as plain data and tensors."""
        return {
            "fingerprint": self.problem.fingerprint,
            "store": self.store.state_dict(),
            "coin": self._generator.bit_generator.state,
            "statistics": asdict(self.statistics),
            "bound": None if self._bound is None else self._bound.state_dict(),
            "starts": None if self._starts is None else self._starts.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from ``state``; a state of another problem is refused."""
        if state["fingerprint"] != self.problem.fingerprint:
            raise InputError(
                f"this cache belongs to another problem: its fingerprint is {state['fingerprint']}, "
                f"the problem's is {self.problem.fingerprint}"
            )
        self.store.load_state_dict(state["store"])
        self._generator.bit_generator.state = state["coin"]
        self.statistics = CacheStatistics(**state["statistics"])
        if state.get("bound") is not None and self.bound is not None:
            self.bound.load_state_dict(state["bound"])
        if state.get("starts") is not None and self._starts is not None:
            self._starts.load_state_dict(state["starts"])

    def save(self, path: Path | str) -> None:
        """Write the cache to one file, atomically and without pickle."""
        files.save(path, self.state_dict())

    @classmethod
    def load(cls, path: Path | str, problem: Problem, **settings: Any) -> SolutionCache:
        """Read a cache back; ``settings`` are those of the constructor, ``dtype`` by default that of the file."""
        state = files.load(path)
        try:
            dtype = state["store"]["rows"].dtype
            coin = np.random.default_rng().bit_generator
            coin.state = state["coin"]
            CacheStatistics(**state["statistics"])
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise FileError(f"{path}: field 'store', 'coin' or 'statistics' cannot be used: {error}") from error
        cache = cls(problem, **({"dtype": dtype} | settings))
        try:
            cache.load_state_dict(state)
        except RegretlessError:
            raise
        except Exception as error:  # whatever the content makes the store do, it is the file's fault
            raise FileError(f"{path} holds no cache of this problem: {error}") from error
        return cache

    def _flip(
        self, at: Sequence[Tensor], queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None
    ) -> tuple[Tensor | None, list[Tensor], Tensor | None]:
        """Choose the heads, solve them at every tensor of ``at``, add what is found.

        Returns:
            Positions of the heads (``None``: no head), their solutions one tensor a query (rows of NaN for failures),
            and the positions of the failures (``None``: none).
        """
        if isinstance(self.policy, ByGap):  # an instance is certified where all its queries are
            seen = at if self.policy.gap_at == "solve" else queries
            mask = self.policy.choose_at(self, [costs.detach() for costs in seen], instance, self._generator)
        else:
            mask = self.policy.choose(self, at[0], instance, self._generator)
        self.statistics.asked += predicted.shape[0]
        chosen = np.flatnonzero(mask)
        if not chosen.size:
            return None, [], None
        heads = torch.from_numpy(chosen).to(predicted.device)
        everything = chosen.size == predicted.shape[0]
        picked = list(at) if everything else [picked_rows(costs, chosen, heads) for costs in at]
        ids = None if instance is None else instance[heads].repeat(len(at))
        costs = picked[0] if len(picked) == 1 else torch.cat(picked)
        starts = None if self._starts is None else self._starts.best(costs, ids)
        attempt = self.problem.attempt(costs, ids, decision=starts is not None, starts=starts)
        if self._starts is not None:
            self._starts.add(attempt, ids)
        self.statistics.solves += costs.shape[0]
        if attempt.status is not None and self.problem.on_failure == "raise":
            refuse_failures(attempt, ids, chosen.tolist() * len(at))
        failed = self._insert(attempt.solution, None if attempt.status is None else attempt.found, ids)
        if self._bound is not None and failed is None:
            exact = (costs.to(torch.float64) * attempt.solution.to(torch.float64)).sum(dim=1)
            self._bound.learn(costs, ids, exact)
        solved = [attempt.solution] if len(at) == 1 else list(attempt.solution.chunk(len(at)))
        if failed is None:
            return heads, solved, None
        return heads, solved, heads[failed.view(len(at), -1).any(dim=0)]

    def _gaps(self, costs: Tensor, instance: Tensor | None, *, note: bool) -> Tensor:
        if self.bound is None:
            raise InputError("gaps need a bound, and this problem has neither a MILP nor a bound of its own")
        if costs.ndim != 2 or costs.shape[1] != self.problem.width:
            raise InputError(f"costs must have shape (batch, {self.problem.width}), got {tuple(costs.shape)}")
        self.problem.check_instance(instance, len(costs))
        return relative_gaps(self.store, self.bound, costs, instance, note=note)

    def _insert(self, solution: Tensor, found: Tensor | None, ids: Tensor | None) -> Tensor | None:
        start = time.perf_counter()
        failed = None
        if found is not None and not bool(found.all()):
            failed = ~found
            solution, ids = solution[found], None if ids is None else ids[found]
            self.statistics.failed += int(failed.sum())
        count = solution.shape[0]
        new = self.store.add(solution, self._serves(solution, ids)) if count else 0
        self.statistics.added += new
        self.statistics.hits += count - new
        self.statistics.seconds += time.perf_counter() - start
        return failed

    def _serves(self, rows: Tensor, ids: Tensor | None) -> Tensor | None:
        """Which instances each row serves: checked in one step where the model can tell, else only its own instance."""
        if self.problem.instances is None or ids is None:
            return None
        serves = self.problem.feasible(rows)
        if serves is None:
            serves = torch.zeros(self.problem.instances, len(rows), dtype=torch.bool, device=rows.device)
        # The instance it was solved for is feasible by proof, whatever a tolerance says.
        serves[ids.to(rows.device), torch.arange(len(rows), device=rows.device)] = True
        return serves
