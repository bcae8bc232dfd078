"""Growth of the shared cache: exact solves at the predictions of the settings that lead."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.cache import SolutionCache
from regretless.search.scores import HeldOut
from regretless.solvers.checked_solve import refuse_failures
from regretless.training.history import totals
from regretless.training.stacked_models import StackedModels

LEADERS = 5


class LeaderGrowth:
    """Spend the solves of one run where they serve the whole search; an observer of ``fit_stacked``.

    After every epoch all settings are scored by look-ups on their held-out folds. The solves of the next epoch are made
    at predictions of the best few. A setting that leads only because S lacks the solutions that its predictions need
    loses its lead, and S becomes exact where it matters.

    Args:
        cache: shared by all losses, which never solve by themselves.
        held_out: scores by look-up.
        instances: ``(n,)`` ids of the training instances, for families.
        solves: number of solves per step; a fraction is carried over, so that the total is exact.
        seed: of the choice.
        time_limit: seconds after which training ends.
        max_solves: solves after which S grows no more.
    """

    def __init__(
        self,
        cache: SolutionCache,
        held_out: HeldOut,
        instances: Tensor | None,
        *,
        solves: float,
        seed: int,
        time_limit: float | None = None,
        max_solves: int | None = None,
    ) -> None:
        self.cache, self.held_out, self.instances = cache, held_out, instances
        self.per_step, self.time_limit, self.max_solves = solves, time_limit, max_solves
        self.generator = np.random.default_rng(seed)
        self.leaders: list[int] = []
        self.rows: list[dict[str, Any]] = []
        self.solved, self.seconds, self.due = 0, 0.0, 0.0
        self._since, self._before = time.monotonic(), self._counts()

    def on_step(self, predicted: Tensor, index: Tensor, valid: Tensor) -> None:
        """Solve a few of the predictions of a step; see ``Observer``."""
        self.due += self.per_step
        count = int(self.due + 1e-9)  # sums of fractions fall short of an integer by rounding
        self.due -= count
        if self.max_solves is not None:
            count = min(count, self.max_solves - self.solved)
        if count <= 0:
            return
        streams, settings, batch, _ = predicted.shape
        f, b = self.generator.integers(streams, size=count), self.generator.integers(batch, size=count)
        s = self.generator.choice(self.leaders or np.arange(settings), size=count)
        ids = None if self.instances is None else self.instances.to(index.device)[index[f, b]]
        costs = self.cache.problem.to_minimization(predicted[f, s, b], ids)
        self.solved += count
        solved = self.cache.problem.attempt(costs, ids)
        if self.cache.problem.on_failure == "raise":
            refuse_failures(solved, ids, index[f, b].tolist())
        found = solved.found
        if bool(found.any()):
            self.cache.add(solved.solution[found], None if ids is None else ids[found])

    def on_epoch(self, epoch: int, models: StackedModels, diverged: Tensor) -> None:
        """Score all settings and choose the leaders; see ``Observer``."""
        scores = self.held_out.look_up(models, models.parameters).mean(dim=1)
        scores[diverged.any(dim=0).cpu()] = torch.inf
        order = torch.argsort(scores, stable=True)
        self.leaders = [int(s) for s in order[:LEADERS] if bool(torch.isfinite(scores[s]))]
        now = time.monotonic()
        seconds, self._since = now - self._since, now
        self.seconds += seconds
        row = {"epoch": epoch, "regret": float(scores[order[0]]), "seconds": seconds}
        before, self._before = self._before, self._counts()
        row |= {name: count - before[name] for name, count in self._before.items()}
        self.rows.append(row | {"cache_size": len(self.cache)})

    def why_stop(self) -> str:
        """Whether the time limit is reached; see ``Observer``. The time of earlier sessions counts."""
        if self.time_limit is not None and self.seconds >= self.time_limit:
            return f"the time limit of {self.time_limit:g} s is reached"
        return ""

    def _counts(self) -> dict[str, float]:
        """Running totals of the problem and the cache; methods without a cache solve in every step as well."""
        growth = {"solves": self.cache.problem.statistics.count("growth")}  # the first column, and not all solves
        return growth | totals(self.cache) | growth

    def state_dict(self) -> dict[str, Any]:
        """Generator, leaders and counts."""
        return {
            "generator": self.generator.bit_generator.state,
            "leaders": self.leaders,
            "rows": self.rows,
            "solved": self.solved,
            "due": self.due,
            "seconds": self.seconds,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self.generator.bit_generator.state = state["generator"]
        self.leaders = [int(s) for s in state["leaders"]]
        self.rows = [dict(row) | {"solves": int(row["solves"])} for row in state["rows"]]
        self.solved, self.seconds, self.due = int(state["solved"]), float(state["seconds"]), float(state["due"])
        self._before = self._counts()
