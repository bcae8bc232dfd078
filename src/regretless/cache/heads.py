"""The heads of a step, instances of a batch that are solved exactly, and what ranks tell each other about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from regretless.arrays import Array
from regretless.cache.warm_starts import WarmStarts
from regretless.errors import SolveError
from regretless.problem import Problem
from regretless.ranks import Ranks
from regretless.solvers.checked_solve import refuse_failures
from regretless.tensors import rows_at
from regretless.types import Solved


class Growth(NamedTuple):
    """What one step of a cache found.

    Attributes:
        rows: ``(m, width)`` solutions.
        ids: ``(m,)`` instances that they were found for, for families.
        asked: instances that the policy decided on.
        solves: exact solves.
        failed: solves without a solution.
        lookups: queries answered from S since the last step.
    """

    rows: Tensor
    ids: Tensor | None = None
    asked: int = 0
    solves: int = 0
    failed: int = 0
    lookups: int = 0


def exchange(ranks: Ranks, own: Growth, *, stop: bool = False) -> Growth:
    """Join the growth of all ranks: solutions in the order of ranks, counts added up.

    Args:
        ranks: all of them must call this.
        own: of this rank.
        stop: whether this rank cannot go on; its error is raised by the caller, and the other ranks stop here.

    Raises:
        SolveError: another rank cannot go on.
    """
    numbers = [len(own.rows), own.asked, own.solves, own.failed, own.lookups, int(stop)]
    every = ranks.gather(torch.tensor(numbers))
    stopped = [rank for rank, flag in enumerate(every[:, 5].tolist()) if flag]
    if stopped and not stop:
        raise SolveError(f"training stops: a solve failed on rank {stopped[0]}, whose message names the instance")
    counts = every[:, 0].tolist()
    rows, ids = own.rows, own.ids
    if sum(counts) and not stopped:
        rows = ranks.gather_rows(own.rows.to(torch.float64), counts)
        ids = None if own.ids is None else ranks.gather_rows(own.ids, counts)
    _, asked, solves, failed, lookups, _ = every.sum(dim=0).tolist()
    return Growth(rows, ids, asked, solves, failed, lookups)


class Heads(NamedTuple):
    """The instances of a batch that were solved exactly.

    Attributes:
        positions: ``(heads,)`` in the batch.
        solutions: one ``(heads, width)`` tensor per query; rows of NaN where a solve failed.
        failed: ``(heads,)`` mask of the instances with a failed solve, or ``None`` when there is none.
    """

    positions: Tensor
    solutions: list[Tensor]
    failed: Tensor | None = None

    @property
    def failed_positions(self) -> Tensor | None:
        """Positions in the batch of the failed solves, or ``None``."""
        return None if self.failed is None else self.positions[self.failed]


class HeadSolves(NamedTuple):
    """Exact solves of the heads, each at several costs.

    Attributes:
        positions: ``(heads,)`` in the batch.
        costs: ``(k * heads, width)``: all heads at the first costs, then at the second, and so on.
        ids: ``(k * heads,)`` instances, for families.
        solved: what the problem returned.
        failed: ``(k * heads,)`` mask of the solves without a solution, or ``None`` when there is none.
    """

    positions: Tensor
    costs: Tensor
    ids: Tensor | None
    solved: Solved
    failed: Tensor | None

    def growth(self, *, asked: int) -> Growth:
        """What S gets from these solves."""
        rows, ids, failed = self.solved.solution, self.ids, self.failed
        if failed is None:
            return Growth(rows, ids, asked=asked, solves=rows.shape[0])
        own = None if ids is None else ids[~failed]
        return Growth(rows[~failed], own, asked=asked, solves=rows.shape[0], failed=int(failed.sum()))

    def heads(self) -> Heads:
        """Their solutions, one tensor per cost vector of an instance."""
        count, solution = self.positions.shape[0], self.solved.solution
        failed = None if self.failed is None else self.failed.view(-1, count).any(dim=0)
        rows = solution.shape[0]
        parts = [solution] if rows == count else list(solution.chunk(rows // count))
        return Heads(self.positions, parts, failed)

    def refuse_failures(self) -> None:
        """Raise the first failure, with the position of its instance in the batch."""
        times = self.costs.shape[0] // self.positions.shape[0]
        refuse_failures(self.solved, self.ids, self.positions.tolist() * times)


def solve_heads(
    problem: Problem,
    at: Sequence[Tensor | Array],
    positions: Tensor,
    instance: Tensor | None,
    starts: WarmStarts | None,
) -> HeadSolves:
    """Solve instances of a batch exactly.

    Args:
        problem: what to solve.
        at: tensors or arrays ``(batch, width)`` of minimizing costs; every head is solved at each of them.
        positions: ``(heads,)`` in the batch.
        instance: ``(batch,)`` ids, for families.
        starts: decisions to start from, to which those of these solves are added; ``None`` for none.
    """
    chosen = [rows_at(query, positions) for query in at]
    costs = chosen[0] if len(at) == 1 else torch.cat(chosen)
    ids = None if instance is None else instance[positions].repeat(len(at))
    first = None if starts is None else starts.best(costs, ids)
    solved = problem.attempt(costs, ids, decision=starts is not None, starts=first)
    if starts is not None:
        starts.add(solved, ids)
    failed = None
    if solved.status is not None and not bool((found := solved.found).all()):
        failed = ~found
    return HeadSolves(positions, costs, ids, solved, failed)
