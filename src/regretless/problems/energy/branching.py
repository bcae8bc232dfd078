"""Best-first search over start times: the cheapest starts that pack."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass

from regretless.problems.energy.conflicts import Conflict, Conflicts
from regretless.problems.energy.packing import TooHardError
from regretless.types import Status

# Beyond this many nodes the MILP takes over (counted, not timed: the same answer on every machine).
NODES = 5_000
# After the time limit: how many nodes to dive for any schedule at all.
DIVE = 200

# A task's starts from cheapest to dearest, as (cost, start); ties in the order of time.
Options = list[tuple[float, int]]
Pick = tuple[float, int]


@dataclass(frozen=True)
class Found:
    """WarmStarts of all tasks (``None`` where there are none), how the search ended, and the relative gap left.

    ``machines`` is there only where an engine chose them; otherwise they follow from the starts.
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
        # Summed anew each time: differences of huge and small costs would leave nothing of the small ones.
        return sum(cost for cost, _ in self.picks)

    def with_task(self, j: int, allowed: int, pick: Pick) -> _Node:
        return _Node(
            (*self.allowed[:j], allowed, *self.allowed[j + 1 :]), (*self.picks[:j], pick, *self.picks[j + 1 :])
        )


def search(conflicts: Conflicts, options: list[Options], *, time_limit: float | None = None) -> Found:
    """Find starts that pack at the least total cost.

    Every node takes the cheapest allowed start of each task, a lower bound. Where they do not pack, a conflict says
    that one of its tasks must give way: child k keeps the tasks before k inside the conflict and moves task k out of
    it. The first node that packs is optimal, for nodes come in the order of their bounds.

    Args:
        conflicts: of the instance.
        options: for each task its starts with their costs, cheapest first.
        time_limit: seconds, after which any schedule that is quickly found is returned with its gap.

    Raises:
        TooHardError: the search outgrew its budget; solve the MILP instead.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    root = _Node(tuple(sum(1 << start for _, start in choice) for choice in options), tuple(c[0] for c in options))
    # Among equal bounds the latest node goes first: with many ties the search is then a dive, not a flood.
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
    """Branch on the conflict that raises the bound most; ties go to the smaller and then the earlier one."""
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
        # The starts inside the mask hold the present pick, so it stays the cheapest.
        node = node.with_task(j, node.allowed[j] & mask, node.picks[j])
    return children


def _cheapest(choice: Options, allowed: int) -> Pick | None:
    return next((pick for pick in choice if allowed >> pick[1] & 1), None)


def _dive(conflicts: Conflicts, options: list[Options], node: _Node, bound: float) -> Found:
    """Depth first from a node to any schedule."""
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
