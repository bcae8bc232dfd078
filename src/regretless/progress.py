"""Progress bars that appear only where somebody is looking, and only after a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def track(items: Iterable[T], *, total: int, label: str, show: bool | None = None) -> Iterator[T]:
    """Yield ``items`` while a bar on standard error tells how far it is and how long it will take.

    Args:
        items: what to go through.
        total: how many there are.
        label: what is being done.
        show: force the bar on or off; by default it shows on a terminal only.
    """
    if show is None:
        show = sys.stderr.isatty()
    if not show:
        yield from items
        return
    start = shown = time.monotonic()
    open_line = False
    try:
        for done, item in enumerate(items, start=1):
            yield item
            now = time.monotonic()
            if now - start > 1.0 and (now - shown > 0.2 or done >= total):
                shown, open_line = now, True
                sys.stderr.write(f"\r{_line(label, done, total, now - start)}\x1b[K")
                sys.stderr.flush()
    finally:
        # Whatever ends it, an error or a break included, the next line of output starts on its own line.
        if open_line:
            sys.stderr.write("\n")
            sys.stderr.flush()


def _line(label: str, done: int, total: int, seconds: float) -> str:
    share = min(done / max(total, 1), 1.0)
    left = seconds / done * max(total - done, 0)
    return f"{label} [{'#' * int(24 * share):<24}] {done}/{total}, {left:.0f} s left"
