"""Solve or train many times and watch memory, threads and open files.

Usage: ``python -m tests.robustness.leaks solves|fits COUNT``; prints one JSON object.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from collections.abc import Callable

import torch

from . import small
from .soak import resident

BATCH = 100


def solves(workers: int) -> Callable[[int], None]:
    """A batch of exact solves, at costs that never come twice."""
    problem = small.problem(workers=workers)
    chance = torch.Generator().manual_seed(0)

    def once(k: int) -> None:
        problem.solve(torch.randn(BATCH, 5, generator=chance, dtype=torch.float64))

    return once


def fits(workers: int) -> Callable[[int], None]:
    """A training with a problem, a cache and threads of its own."""
    given = small.data()

    def once(k: int) -> None:
        small.train(("map-dc", "spo-cache", "auto", "nce-c")[k % 4], small.problem(workers=workers), given)

    return once


def usage() -> tuple[int, int, int]:
    """Bytes, threads and open files of this process."""
    gc.collect()
    return resident(), threading.active_count(), len(os.listdir("/proc/self/fd"))


def main(what: str, count: int) -> dict[str, object]:
    """Do a tenth, measure, do the rest, measure again."""
    once = {"solves": solves, "fits": fits}[what](workers=2)
    rounds = count // BATCH if what == "solves" else count
    for k in range(rounds // 10):
        once(k)
    before = usage()
    for k in range(rounds // 10, rounds):
        once(k)
    after = usage()
    names = ("bytes", "threads", "files")
    return {name: [b, a] for name, b, a in zip(names, before, after, strict=True)} | {
        "growth": after[0] / before[0] - 1
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]))))
