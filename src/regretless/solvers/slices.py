"""How a batch of jobs is cut into slices for workers that are reached through a network."""

from __future__ import annotations

import math

# A call of a Ray actor takes one to two milliseconds. A slice must take longer than that to be worth a call.
SLICE_SECONDS = 0.005


def stays_local(jobs: int, seconds: float) -> bool:
    """Whether a batch is too short to be sent away: its jobs make less than two slices.

    >>> stays_local(32, 0.00005), stays_local(32, 0.01)
    (True, False)
    """
    return jobs * seconds < 2 * SLICE_SECONDS


def slice_size(waiting: int, workers: int, seconds: float) -> int:
    """Number of jobs in the next slice: a share of what waits, so that slices become smaller towards the end.

    Large slices at the start cost few calls. Small ones at the end keep all workers busy although jobs take different
    times (guided self-scheduling, Polychronopoulos and Kuck 1987).

    Args:
        waiting: jobs that are not sent yet.
        workers: workers that take slices.
        seconds: mean time of a job; 0 where it is not known.

    >>> slice_size(32, 2, 0.01), slice_size(3, 2, 0.01), slice_size(32, 2, 0.001), slice_size(3, 2, 0.001)
    (8, 1, 8, 3)
    """
    if 0 < waiting * seconds <= SLICE_SECONDS:
        return waiting
    least = math.ceil(SLICE_SECONDS / seconds) if seconds > 0 else 1
    return min(waiting, max(least, math.ceil(waiting / (2 * workers))))
