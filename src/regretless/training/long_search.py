"""A warning early in a search that will take long: its time grows with the square of the number of instances."""

from __future__ import annotations

import time
import warnings

from regretless.errors import RegretlessWarning
from regretless.progress import duration

MEASURED = 30.0  # seconds until the time per step is known well enough
LONG = 1800.0  # seconds from which on a search is long


class LongSearch:
    """Estimates the time of a search with ``steps`` left from the first of them, and warns once if it is long."""

    def __init__(self, steps: int) -> None:
        self.steps, self.done = steps, 0
        self.start: float | None = time.monotonic()  # None once the estimate is made

    def step(self) -> None:
        """Count one step."""
        self.done += 1
        if self.start is None or time.monotonic() - self.start < MEASURED:
            return
        left = (time.monotonic() - self.start) / self.done * (self.steps - self.done)
        self.start = None
        if left > LONG:
            warnings.warn(
                f"the search takes about {duration(left)} more, since every step compares its predictions with all "
                "cached solutions: a smaller sample=, or fewer epochs= or methods=, make it faster, and time_limit= "
                "(--set time_limit=SECONDS) ends it after the epoch in which that time is over",
                RegretlessWarning,
                stacklevel=2,
            )
