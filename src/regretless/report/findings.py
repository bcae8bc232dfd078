"""One or two sentences a problem: who is best, by how much, and what it cost."""

from __future__ import annotations

import math

from regretless.report.groups import Group, Section
from regretless.report.markup import Markup, join, tag
from regretless.report.numbers import decimals, show

BASELINE = "two-stage"
NEAR = 0.05
# No line ends before it.
PERCENT = "\N{NO-BREAK SPACE}%"


def finding(section: Section) -> Markup | None:
    """Say what the table shows; ``None`` where there is nothing to compare."""
    ranked = sorted((pair for group in section.groups if (pair := _regret(group))), key=lambda pair: pair[0])
    if len(ranked) < 2:
        return None
    best, winner = ranked[0]
    places = decimals([regret for regret, _ in ranked], digits=3)
    parts: list[object] = [tag("strong", winner.label), f" has the lowest test regret, {show(best, places)}"]
    base = next(((regret, group) for regret, group in ranked if group.method == BASELINE), None)
    if base and base[1] is not winner and base[0] > 0:
        parts.append(f": {100 * (1 - best / base[0]):.3g}{PERCENT} below {BASELINE} ({show(base[0], places)})")
    parts.append(". ")
    saver = _saver(ranked)
    if saver:
        regret, group, times = saver
        far = f"{100 * (regret / best - 1):.2g}{PERCENT}" if regret > best else f"0{PERCENT}"
        called = f" with {show(times, digits=3)} times fewer solver calls. "
        parts += [tag("strong", group.label), f" comes within {far} of it", called]
    seeds = min(len(group.runs) for _, group in ranked)
    if seeds == 1:
        parts.append("With one seed, small differences may be chance.")
    return tag("p", join(parts), class_="finding")


def _saver(ranked: list[tuple[float, Group]]) -> tuple[float, Group, float] | None:
    """The near-best group with the fewest solver calls, if those are at least twice as few."""
    best, winner = ranked[0]
    calls = winner.statistic("solves").mean
    if not calls or not math.isfinite(calls) or best <= 0:
        return None
    near = [(regret, group) for regret, group in ranked[1:] if regret <= (1 + NEAR) * best]
    counted = [(group.statistic("solves").mean, regret, group) for regret, group in near]
    cheap = [(solves, regret, group) for solves, regret, group in counted if solves and solves * 2 <= calls]
    if not cheap:
        return None
    solves, regret, group = min(cheap, key=lambda item: (item[0], item[1]))
    return regret, group, calls / solves


def _regret(group: Group) -> tuple[float, Group] | None:
    found = group.statistic("regret")
    return (found.mean, group) if found.mean is not None and found.count and not found.lost else None
