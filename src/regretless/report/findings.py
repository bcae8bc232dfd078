"""What the table of a problem shows, in one or two sentences: the best method, its lead, and what it cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from regretless.charts.text import decimals, show
from regretless.listing import listed
from regretless.report.groups import Group, Section
from regretless.report.summary_table import DIGITS

BASELINE = "two-stage"
NEAR = 0.05
SOLVES = "training_solves"


@dataclass(frozen=True)
class Finding:
    """The best group; its lead over two-stage in per cent; a group near it that needs far fewer solver calls.

    Groups that are ``tied`` share the lowest regret as it is written, and all are named.
    """

    winner: str
    tied: bool
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
    best = ranked[0][0]
    # As in the table: what reads alike is equally good.
    places = decimals([regret for regret, _ in ranked], digits=DIGITS)
    first = [group for regret, group in ranked if show(regret, places) == show(best, places)]
    parts: dict[str, str] = {}
    base = next(((regret, group) for regret, group in ranked if group.method == BASELINE), None)
    if base and base[1] not in first and base[0] > 0:
        parts |= {"lead": _lead(100 * (1 - best / base[0])), "baseline": show(base[0], places)}
    if saver := _saver(ranked):
        regret, group, factor = saver
        distance = "" if group in first else f"{100 * (regret / best - 1):.2g}"
        parts |= {"saver": group.label, "distance": distance, "savings": show(factor, digits=3)}
    one_seed = min(group.seeds for _, group in ranked) == 1
    return Finding(listed([group.label for group in first]), len(first) > 1, show(best, places), one_seed, **parts)


def _lead(percent: float) -> str:
    """Three digits, without rounding up to 100."""
    return "over 99.9" if 99.95 <= percent < 100 else f"{percent:.3g}"


def _saver(ranked: list[tuple[float, Group]]) -> tuple[float, Group, float] | None:
    """The near-best group with the fewest solver calls, if it needs at most half of the best one's."""
    best, winner = ranked[0]
    calls = winner.statistic(SOLVES).mean
    if not calls or not math.isfinite(calls) or best <= 0:
        return None
    near = [
        (group.statistic(SOLVES).mean, regret, group) for regret, group in ranked[1:] if regret <= (1 + NEAR) * best
    ]
    cheap = [(solves, regret, group) for solves, regret, group in near if solves and solves * 2 <= calls]
    if not cheap:
        return None
    solves, regret, group = min(cheap, key=lambda item: item[:2])
    return regret, group, calls / solves


def _regret(group: Group) -> tuple[float, Group] | None:
    found = group.statistic("regret")
    return (found.mean, group) if found.mean is not None and found.count and not found.lost else None
