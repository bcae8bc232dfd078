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
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if now - start > 1.0 and (now - shown > 0.2 or done == total):
            shown = now
            left = (now - start) / done * (total - done)
            filled = "#" * (24 * done // max(total, 1))
            end = "\n" if done == total else ""
            sys.stderr.write(f"\r{label} [{filled:<24}] {done}/{total}, {left:.0f} s left   {end}")
            sys.stderr.flush()
