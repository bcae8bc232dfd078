"""Timing on a noisy machine: CPU time of the process, interleaved repeats, medians, and ratios within one run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import torch
from threadpoolctl import threadpool_limits


@threadpool_limits.wrap(limits=1)  # NumPy's threads wait busily after a product, and would be charged to the next job
def interleaved(jobs: Mapping[str, Callable[[], object]], *, repeats: int = 7, calls: int = 1) -> dict[str, float]:
    """Median CPU seconds per call of every job. The jobs alternate, so that load affects all of them alike."""
    torch.set_num_threads(1)
    for job in jobs.values():
        job()
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.process_time()
            for _ in range(calls):
                job()
            seconds[name].append((time.process_time() - start) / calls)
    return {name: statistics.median(values) for name, values in seconds.items()}


def line(what: str, figure: float, *, at_most: float | None = None, at_least: float | None = None) -> bool:
    """Print one figure with its target, and return whether the target was met."""
    good = (at_most is None or figure <= at_most) and (at_least is None or figure >= at_least)
    target = f"at most {at_most:g}" if at_most is not None else f"at least {at_least:g}" if at_least is not None else ""
    verdict = "" if not target else f"  (target {target}: {'met' if good else 'MISSED'})"
    print(f"{what}: {figure:.3g}{verdict}", flush=True)
    return good
