"""What the figures show, in sentences: the best method of a problem, and what limits the figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from regretless.charts.text import decimals, show
from regretless.listing import listed
from regretless.report.groups import ON, Group, Section
from regretless.report.report_data import DAMAGED, DONE, FAILED, UNFINISHED, ReportData, Run
from regretless.report.summary_table import DIGITS
from regretless.runs.method_names import BASELINE
from regretless.runs.results import INEXACT

NEAR = 0.05
SOLVES = "training_solves"


@dataclass(frozen=True)
class Finding:
    """The best group; its lead over a two-stage group in percent; a group near it that needs far fewer solver calls.

    Groups that are ``tied`` share the lowest regret as it is written, and all are named.
    """

    winner: str
    tied: bool
    what: str  # such as "test regret"
    regret: str
    one_seed: bool
    lead: str = ""
    baseline: str = ""
    baseline_regret: str = ""
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
        parts |= {"lead": _lead(100 * (1 - best / base[0])), "baseline": base[1].label}
        parts["baseline_regret"] = show(base[0], places)
    if saver := _saver(ranked):
        regret, group, factor = saver
        distance = "" if group in first else f"{100 * (regret / best - 1):.2g}"
        parts |= {"saver": group.label, "distance": distance, "savings": show(factor, digits=3)}
    one_seed = min(group.seeds for _, group in ranked) == 1
    winner = listed([group.label for group in first])
    return Finding(winner, len(first) > 1, section.regret, show(best, places), one_seed, **parts)


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


def cautions(data: ReportData) -> list[str]:
    """Sentences that limit what the figures say; none where nothing does."""
    done = [run for run in data.runs if run.status == DONE]
    found = [_affected([run for run in done if (run.metric(name) or 0) > 0], words) for name, words in INEXACT.items()]
    lost = [run for run in done if (regret := run.metric("regret")) is None or not math.isfinite(regret)]
    found.append(_affected(lost, "a regret that is missing or not finite: they are not in the means"))
    for on, name in ON.items():
        words = f"no test data: figures are on the {name} data and say little about new data"
        found.append(_affected([run for run in done if run.metrics.get("on") == on], words))
    for status, words in ((FAILED, "failed"), (DAMAGED, "cannot be read"), (UNFINISHED, "not finished")):
        number = sum(run.status == status for run in data.runs)
        verb = ("is " if number == 1 else "are ") if status == UNFINISHED else ""
        found.append(f"{number} of {len(data.runs)} runs {verb}{words}." if number else "")
    remarks = [remark[:1].upper() + remark[1:] + ("" if remark.endswith(".") else ".") for remark in data.remarks]
    return [sentence for sentence in found if sentence] + remarks


def without_result(runs: Sequence[Run]) -> list[tuple[Run, str]]:
    """Runs that did not end well, each with its error or what to do."""
    unfinished = "The run was started and is not finished: the same command continues it."
    return [(run, run.error or unfinished) for run in runs if run.status in (FAILED, DAMAGED, UNFINISHED)]


def _affected(runs: Sequence[Run], words: str) -> str:
    names = sorted({f"{run.method} on {run.problem}" for run in runs})
    return f"{len(runs)} {'run has' if len(runs) == 1 else 'runs have'} {words} ({listed(names, 6)})." if runs else ""
