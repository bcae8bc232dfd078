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


def cached_table(rows: list[Row]) -> tuple[list[str], int, int]:
    """Our cached losses beside PyEPO's best; on how many cells of degree 4 and more map-dc wins, and of how many."""
    head = " | ".join(f"{name}" for name in CACHED)
    lines = [f"| n | degree | PyEPO's best | {head} |", "|" + "---|" * (3 + len(CACHED))]
    won = count = 0
    for cell in CELLS:
        means = {
            name: statistics.mean(values.values()) for name in PAIRS if (values := sample(rows, "pyepo", name, cell))
        }
        if not means:
            continue
        best = min(means, key=means.__getitem__)
        ours = [sample(rows, "ours", name, cell) for name in CACHED]
        if cell[0] >= 4 and ours[0]:
            count += 1
            won += statistics.mean(ours[0].values()) < means[best]
        its = text_of(sample(rows, "pyepo", best, cell))
        lines.append(f"| {cell[1]} | {cell[0]} | {best} {its} | {' | '.join(map(text_of, ours))} |")
    return lines, won, count


def page(rows: list[Row]) -> tuple[str, bool]:
    """The page, and whether both targets were met."""
    pairs, met, count = pairs_table(rows)
    cached, won, cells = cached_table(rows)
    seeds = {cell: len({row["seed"] for row in rows if (row["deg"], row["n"]) == cell}) for cell in CELLS}
    fewest, most = min(seeds.values()), max(seeds.values())
    number = f"{most}" if fewest == most else f"{fewest} to {most}"
    few = "**Provisional:** fewer than 10 seeds; the same command continues where it ended."
    absent = sorted({f"{row['name']}: {row['error']}" for row in rows if "error" in row})
    good = bool(count) and met == count and 2 * won >= cells
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
        "loss enters it, and ours are our own defaults. PyEPO's modules that return solutions are trained with the "
        "task loss that their documentation names. With the same settings, noise and batches most losses give the "
        "same weights on both sides (see also `benchmarks/peers/same_gradients.py`).",
        "",
        "Numbers are regrets in per cent of the optimal cost: mean (standard error) over seeds of data, weights and "
        f"batches; {number} seeds per cell.",
        "",
        "## Few solves against all solves",
        "",
        f"Our cached losses solve {P_SOLVE:.0%} of the instances of a step; PyEPO's losses solve all of them, some of "
        "them ten or twenty times. `map-dc` has a smaller mean regret than the best loss of PyEPO on "
        f"**{won} of {cells}** cells with degree 4 or more.",
        "",
        *cached,
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
