"""What the table of a problem shows, in one or two sentences: the best method, its lead, and what it cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from regretless.charts.text import decimals, show
from regretless.report.groups import Group, Section

BASELINE = "two-stage"
NEAR = 0.05


@dataclass(frozen=True)
class Finding:
    """The best group; its lead over two-stage in per cent; a group near it that needs far fewer solver calls."""

    winner: str
    regret: str
    one_seed: bool
    lead: str = ""
    baseline: str = ""
    saver: str = ""
    distance: str = ""
    savings: str = ""


def finding(section: Section) -> Finding | None:
    """Say what the table shows; ``None`` where there is nothing to compare."""
    ranked = sorted((pair for group in section.groups if (pair := _regret(group))), key=lambda pair: pair[0])
    if len(ranked) < 2:
        return None
    best, winner = ranked[0]
    places = decimals([regret for regret, _ in ranked], digits=3)
    parts: dict[str, str] = {}
    base = next(((regret, group) for regret, group in ranked if group.method == BASELINE), None)
    if base and base[1] is not winner and base[0] > 0:
        parts |= {"lead": f"{100 * (1 - best / base[0]):.3g}", "baseline": show(base[0], places)}
    if saver := _saver(ranked):
        regret, group, factor = saver
        distance = f"{100 * (regret / best - 1):.2g}" if regret > best else "0"
        parts |= {"saver": group.label, "distance": distance, "savings": show(factor, digits=3)}
    one_seed = min(group.seeds for _, group in ranked) == 1
    return Finding(winner.label, show(best, places), one_seed, **parts)


def _saver(ranked: list[tuple[float, Group]]) -> tuple[float, Group, float] | None:
    """The near-best group with the fewest solver calls, if it needs at most half of the best one's."""
    best, winner = ranked[0]
    calls = winner.statistic("solves").mean
    if not calls or not math.isfinite(calls) or best <= 0:
        return None
    near = [
        (group.statistic("solves").mean, regret, group) for regret, group in ranked[1:] if regret <= (1 + NEAR) * best
    ]
    cheap = [(solves, regret, group) for solves, regret, group in near if solves and solves * 2 <= calls]
    if not cheap:
        return None
    solves, regret, group = min(cheap, key=lambda item: item[:2])
    return regret, group, calls / solves


def _regret(group: Group) -> tuple[float, Group] | None:
    found = group.statistic("regret")
    return (found.mean, group) if found.mean is not None and found.count and not found.lost else None
