"""Best-first search over start times for the cheapest starts that fit on the machines."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass

from regretless.problems.energy.conflicts import Conflict, Conflicts
from regretless.problems.energy.packing import TooHardError
from regretless.types import Status

# Beyond this many nodes the MILP is solved instead. Nodes are counted, not timed: the answer is the same on every
# machine.
NODES = 5_000
# Nodes of the dive for any schedule after the time limit.
DIVE = 200

# The starts of a task by increasing cost, as (cost, start); ties in time order.
Options = list[tuple[float, int]]
Pick = tuple[float, int]


@dataclass(frozen=True)
class Found:
    """Starts of all tasks (``None`` if none were found), the status of the search, and the relative gap left.

    ``machines`` is set only if an engine chose them; otherwise they follow from the starts.
    """

    starts: tuple[int, ...] | None
    status: Status
    gap: float = 0.0
    machines: dict[int, int] | None = None
    message: str = ""


@dataclass(frozen=True)
class _Node:
    """Allowed starts of each task as bit masks, and the cheapest allowed start of each."""

    allowed: tuple[int, ...]
    picks: tuple[Pick, ...]

    @property
    def starts(self) -> tuple[int, ...]:
        return tuple(start for _, start in self.picks)

    @property
    def bound(self) -> float:
        # Summed again each time: updating by differences would lose the small costs beside huge ones.
        return sum(cost for cost, _ in self.picks)

    def with_task(self, j: int, allowed: int, pick: Pick) -> _Node:
        return _Node(
            (*self.allowed[:j], allowed, *self.allowed[j + 1 :]), (*self.picks[:j], pick, *self.picks[j + 1 :])
        )


def search(conflicts: Conflicts, options: list[Options], *, time_limit: float | None = None) -> Found:
    """Find the starts of least total cost that fit on the machines.

    Every node takes the cheapest allowed start of each task, which gives a lower bound. If these starts do not fit, one
    task of each conflict must move: child k keeps the tasks before k inside the conflict and moves task k out of it.
    Nodes are visited by increasing bound, so the first node that fits is optimal.

    Args:
        conflicts: conflicts of the instance.
        options: the starts of each task with their costs, cheapest first.
        time_limit: seconds, after which a schedule that is found quickly is returned with its gap.

    Raises:
        TooHardError: the search exceeded its budget; solve the MILP instead.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    root = _Node(tuple(sum(1 << start for _, start in choice) for choice in options), tuple(c[0] for c in options))
    # Among equal bounds the latest node goes first: with many ties the search then goes deep instead of wide.
    heap: list[tuple[float, int, _Node]] = [(root.bound, 0, root)]
    made = 0
    while heap:
        bound, _, node = heapq.heappop(heap)
        found = conflicts.find(node.starts)
        if not found:
            return Found(node.starts, Status.OPTIMAL)
        if deadline is not None and time.monotonic() > deadline:
            return _dive(conflicts, options, node, bound)
        if made > NODES:
            raise TooHardError
        for child in _children(node, found, options):
            made += 1
            heapq.heappush(heap, (child.bound, -made, child))
    return Found(None, Status.INFEASIBLE, float("inf"))


def _children(node: _Node, found: tuple[Conflict, ...], options: list[Options]) -> list[_Node]:
    """Branch on the conflict that raises the bound most; ties go to the smaller, then to the earlier conflict."""
    best_key = (float("-inf"), 0)
    best: list[tuple[float, int, int, Pick | None]] = []
    for conflict in found:
        moves = []
        for j, mask in conflict:
            pick = _cheapest(options[j], node.allowed[j] & ~mask)
            rise = float("inf") if pick is None else pick[0] - node.picks[j][0]
            moves.append((rise, j, mask, pick))
        key = (min(move[0] for move in moves), -len(moves))
        if key > best_key or not best:
            best_key, best = key, moves
    children = []
    for _, j, mask, pick in sorted(best, key=lambda move: move[:2]):
        if pick is not None:
            children.append(node.with_task(j, node.allowed[j] & ~mask, pick))
        # The starts inside the mask contain the current pick, so it stays the cheapest.
        node = node.with_task(j, node.allowed[j] & mask, node.picks[j])
    return children


def _cheapest(choice: Options, allowed: int) -> Pick | None:
    return next((pick for pick in choice if allowed >> pick[1] & 1), None)


def _dive(conflicts: Conflicts, options: list[Options], node: _Node, bound: float) -> Found:
    """Search depth first from a node for any schedule."""
    stack = [node]
    for _ in range(DIVE):
        if not stack:
            break
        node = stack.pop()
        found = conflicts.find(node.starts)
        if not found:
            gap = (node.bound - bound) / max(abs(node.bound), 1e-10)
            return Found(node.starts, Status.TIME_LIMIT, gap)
        stack += sorted(_children(node, found, options), key=lambda child: -child.bound)
    return Found(None, Status.TIME_LIMIT, float("inf"))
