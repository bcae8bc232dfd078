"""Rows of ``compare_losses.py`` -> the page docs/peers_losses.md. Nothing is measured here."""

from __future__ import annotations

import math
import statistics
from typing import Any

from loss_cells import BATCH, CACHED, DEGREES, EPOCHS, LR, P_SOLVE, PAIRS, SIZES

Row = dict[str, Any]
Cell = tuple[int, int]  # degree, n
CELLS: list[Cell] = [(degree, size) for size in SIZES for degree in DEGREES]
Sample = dict[int, float]  # seed -> regret


def sample(rows: list[Row], side: str, name: str, cell: Cell) -> Sample:
    """Regrets by seed."""
    return {
        row["seed"]: row["regret"]
        for row in rows
        if (row["side"], row["name"], row["deg"], row["n"]) == (side, name, *cell) and "regret" in row
    }


def error(values: Sample) -> float:
    """Standard error of the mean."""
    return statistics.stdev(values.values()) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def verdict(mine: Sample, its: Sample) -> str:
    """Whether our mean is within two standard errors of PyEPO's or better, over the seeds that both have."""
    both = sorted(mine.keys() & its.keys())
    if len(both) < 2:
        return ""
    ours, theirs = ({seed: of[seed] for seed in both} for of in (mine, its))
    lead = statistics.mean(ours.values()) - statistics.mean(theirs.values())
    return "yes" if lead <= 2 * error(theirs) else "**no**"


def text_of(values: Sample) -> str:
    """Mean and standard error."""
    if not values:
        return "-"
    deviation = f" ({error(values):.2f})" if len(values) > 1 else ""
    return f"{statistics.mean(values.values()):.2f}{deviation}"


def pairs_table(rows: list[Row]) -> tuple[list[str], int, int]:
    """A line per loss and cell; how many met the target, and of how many."""
    lines = [
        "| loss | n | degree | PyEPO | ours | within two standard errors, or better |",
        "|---|---|---|---|---|---|",
    ]
    met = count = 0
    for name in PAIRS:
        for cell in CELLS:
            its, mine = sample(rows, "pyepo", name, cell), sample(rows, "ours", name, cell)
            if not its or not mine:
                continue
            word = verdict(mine, its)
            count, met = count + bool(word), met + (word == "yes")
            lines.append(f"| {name} | {cell[1]} | {cell[0]} | {text_of(its)} | {text_of(mine)} | {word} |")
    return lines, met, count


def its_means(rows: list[Row], cell: Cell) -> dict[str, float]:
    """Mean regret of every loss of PyEPO on a cell, the best first."""
    found = {name: statistics.mean(values.values()) for name in PAIRS if (values := sample(rows, "pyepo", name, cell))}
    return dict(sorted(found.items(), key=lambda one: one[1]))


def wins(rows: list[Row], name: str) -> tuple[int, int]:
    """On how many cells of degree 4 and more a loss of ours has a lower mean than PyEPO's best, and of how many."""
    won = count = 0
    for cell in CELLS:
        its, mine = its_means(rows, cell), sample(rows, "ours", name, cell)
        if cell[0] >= 4 and its and mine:
            count += 1
            won += statistics.mean(mine.values()) < min(its.values())
    return won, count


def cached_table(rows: list[Row]) -> list[str]:
    """Our cached losses beside PyEPO's best."""
    lines = [f"| n | degree | PyEPO's best | {' | '.join(CACHED)} |", "|" + "---|" * (3 + len(CACHED))]
    for cell in CELLS:
        best = next(iter(its_means(rows, cell)), None)
        if best is not None:
            its, ours = (sample(rows, "pyepo", best, cell), [sample(rows, "ours", name, cell) for name in CACHED])
            lines.append(f"| {cell[1]} | {cell[0]} | {best} {text_of(its)} | {' | '.join(map(text_of, ours))} |")
    return lines


def leaderboard_part(rows: list[Row]) -> str:
    """What the leaderboard shows of these runs: the five best losses of PyEPO per cell, beside map-dc."""
    lines = [
        "| n | degree | losses of PyEPO, the five best | map-dc | map-dc from two-stage |",
        "|---|---|---|---|---|",
    ]
    for cell in CELLS:
        best = list(its_means(rows, cell))[:5]
        if best:
            its = ", ".join(f"{name} {text_of(sample(rows, 'pyepo', name, cell))}" for name in best)
            ours = " | ".join(text_of(sample(rows, "ours", name, cell)) for name in CACHED[:2])
            lines.append(f"| {cell[1]} | {cell[0]} | {its} | {ours} |")
    return "\n".join(lines)


def page(rows: list[Row]) -> tuple[str, bool]:
    """The page, and whether both targets were met."""
    pairs, met, count = pairs_table(rows)
    won = {name: wins(rows, name) for name in CACHED[:2]}
    best_of = ", ".join(f"`{name}` on **{some} of {of}**" for name, (some, of) in won.items())
    seeds = {cell: len({row["seed"] for row in rows if (row["deg"], row["n"]) == cell}) for cell in CELLS}
    fewest, most = min(seeds.values()), max(seeds.values())
    number = f"{most}" if fewest == most else f"{fewest} to {most}"
    few = "**Provisional:** fewer than 10 seeds; the same command continues where it ended."
    absent = sorted({f"{row['name']}: {row['error']}" for row in rows if "error" in row})
    good = bool(count) and met == count and any(2 * some >= of for some, of in won.values())
    lines = [
        "# Every loss of PyEPO, beside ours",
        "",
        "Written by `python benchmarks/peers/compare_losses.py --seeds 10`; do not edit.",
        "",
        *([few, ""] if fewest < 10 else []),
        "Shortest path on the 5 by 5 grid, noise 0.5, 1,000 test instances. Both sides start from the same weights of "
        f"one linear layer and see the same arrays in the same batches: {EPOCHS} epochs, batches of {BATCH}, Adam with "
        f"a rate of {LR}. PyEPO 2.2.7 trains with its own code; its model is a table of all 70 paths. Both sides are "
        "evaluated by one exact evaluation.",
        "",
        "Settings are PyEPO's defaults on both sides (Frank-Wolfe: at most 10 iterations), with two exceptions: in DBB "
        "and I-MLE the width of PyEPO's finite differences depends on the batch size, because the mean of its task "
        "loss enters it. Ours is the mean of these widths in DBB, and our own default in I-MLE. PyEPO's modules that "
        "return solutions are trained with the task loss that their documentation names. With the same settings, "
        "noise and batches most losses give the same weights on both sides (see also "
        "`benchmarks/peers/same_gradients.py`).",
        "",
        "Numbers are regrets in percent of the optimal cost: mean (standard error) over seeds of data, weights and "
        f"batches; {number} seeds per cell.",
        "",
        "## Few solves against all solves",
        "",
        f"Our cached losses solve {P_SOLVE:.0%} of the instances of a step; PyEPO's losses solve all of them, some of "
        "them ten or twenty times. Cells with degree 4 or more on which the mean regret is smaller than that of the "
        f"best loss of PyEPO: {best_of}. The best loss of PyEPO is the one with the smallest test regret of the cell.",
        "",
        *cached_table(rows),
        "",
        "## Loss by loss",
        "",
        f"Our mean is at most two standard errors above PyEPO's in **{met} of {count}** cells.",
        "",
        *([f"Not run: {'; '.join(absent)}.", ""] if absent else []),
        *pairs,
        "",
    ]
    return "\n".join(lines), good
