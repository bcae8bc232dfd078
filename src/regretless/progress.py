"""Progress on standard error: bars on a terminal for loops that take longer than a second, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, TextIO, TypeVar

from regretless.errors import MissingDependencyError, RegretlessWarning
from regretless.optional import need

T = TypeVar("T")
DELAY = 1.0  # seconds before a bar appears
FIRST = 2.0  # seconds after which a bar appears without a first step
LINE_SECONDS = 30.0  # between two lines, away from a terminal


class Bar:
    """One line on a terminal: label, bar, count and a note. It appears ``DELAY`` seconds after it was made.

    It appears with a step. With ``wait`` it also appears while the first step takes long, with the time so far.
    Nested loops share one display of rich, with one line per bar. Without rich there is no bar.
    """

    _lock: ClassVar = threading.RLock()
    _display: ClassVar[Any] = None
    _shown: ClassVar[int] = 0  # bars in the display
    _waiting: ClassVar[set[Bar]] = set()
    _left: ClassVar[bool] = False  # whether the last display ended before its loop did

    def __init__(self, label: str, total: int, stream: TextIO) -> None:
        self.label, self.total, self.stream = label, total, stream
        self.start = time.monotonic()
        self._task: Any = None  # of rich, once the bar has appeared
        self._timer: threading.Timer | None = None
        self._done = 0

    def wait(self) -> None:
        """Appear after ``FIRST`` seconds, unless the bar is closed by then: one solve may take minutes."""
        Bar._waiting.add(self)
        self._timer = threading.Timer(FIRST, self._appear_while_waiting)
        self._timer.daemon = True
        self._timer.start()

    def __str__(self) -> str:
        """The time so far, which the display asks for again and again."""
        return f"{duration(time.monotonic() - self.start)} so far"

    def update(self, done: int, note: str) -> None:
        """Show that ``done`` steps are done."""
        self._done = done
        if self._task is None and time.monotonic() - self.start > DELAY:
            self._appear()
        if self._task is not None and Bar._display is not None:
            Bar._display.update(self._task, completed=done, total=max(self.total, done), note=note)

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        if self._task is None or Bar._display is None:
            print(text, file=self.stream, flush=True)
        else:
            Bar._display.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """End the line, so that the next output starts on its own."""
        Bar._waiting.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._task is None or Bar._display is None:
            return
        with Bar._lock:
            Bar._shown -= 1
            if Bar._shown:  # an inner loop ends: its line goes
                Bar._display.remove_task(self._task)
            else:
                Bar._display.stop()
                Bar._display, Bar._left = None, self._done < self.total
        self._task = None

    def _appear(self) -> None:
        try:
            rich = need("rich.progress", pip="rich", why="show progress")
            console = need("rich.console", pip="rich", why="show progress").Console(file=self.stream)
        except MissingDependencyError:
            return
        with Bar._lock:
            if self._task is not None:  # it appeared while it waited
                return
            Bar._waiting.discard(self)
            if Bar._display is None:
                columns = ("{task.description}", rich.BarColumn(), rich.MofNCompleteColumn(), "{task.fields[note]}")
                # Standard output stays as it is: it may be a pipe to another program.
                Bar._display = rich.Progress(*columns, console=console, redirect_stdout=False, refresh_per_second=5)
                Bar._display.start()
                Bar._left = False
            Bar._shown += 1
            self._task = Bar._display.add_task(self.label, total=self.total, note=self)

    def _appear_while_waiting(self) -> None:
        with Bar._lock:
            if self in Bar._waiting:
                self._appear()


class PlainLine:
    """In place of a bar where there is no terminal: a line every ``LINE_SECONDS``, the first one after as long."""

    wanted: ClassVar[bool] = True

    def __init__(self, label: str, total: int, stream: TextIO) -> None:
        self.label, self.total, self.stream = label, total, stream
        self.start = self._written = time.monotonic()

    def update(self, done: int, note: str) -> None:
        """Write that ``done`` steps are done, if a line is due."""
        now = time.monotonic()
        if now - self._written >= LINE_SECONDS:
            self._written = now
            print(f"{self.label}: {done}/{max(self.total, done)}, {note}", file=self.stream, flush=True)

    def close(self) -> None:
        """Nothing is left to write."""


def write_lines(wanted: bool) -> None:
    """Write plain lines in this process where there is no terminal, or do not; by default they are written."""
    PlainLine.wanted = wanted


def end_bars() -> bool:
    """End all bars, so that what is written next comes after them; return whether one ended before its loop did.

    An error passes the loop of a bar before the bar is closed: it closes with the generator of the loop.
    """
    with Bar._lock:
        ended = Bar._display is not None or Bar._left
        if Bar._display is not None:
            Bar._display.stop()
        Bar._display, Bar._shown, Bar._left = None, 0, False
        Bar._waiting.clear()
    return ended


def track(
    items: Iterable[T],
    *,
    total: int,
    label: str,
    show: bool | None = None,
    count: Callable[[T], int] = lambda _: 1,
) -> Iterator[T]:
    """Yield ``items`` and show a bar, or a line now and then, with the time left on standard error.

    Args:
        items: what to iterate over.
        total: the number of items, or the sum of what ``count`` returns for them.
        label: what is being done.
        show: force the bar on or off; by default it appears on a terminal, and plain lines elsewhere.
        count: what an item counts for.
    """
    bar = _begun(label, total, show)
    if bar is None:
        yield from items
        return
    done = 0
    try:
        for item in items:
            yield item
            done += count(item)
            left = (time.monotonic() - bar.start) / done * max(total - done, 0)
            bar.update(done, f"{duration(left)} left")
    finally:
        bar.close()


def _begun(label: str, total: int, show: bool | None) -> Bar | PlainLine | None:
    """What shows the progress of a loop that begins now."""
    if show is False or sys.stderr is None:  # closed, as by 2>&-
        return None
    if show is None and not sys.stderr.isatty():
        return PlainLine(label, total, sys.stderr) if PlainLine.wanted else None
    bar = Bar(label, total, sys.stderr)
    bar.wait()
    return bar


class Lines:
    """Whether a line about progress is due: for the first and the last step, and in between once per second.

    >>> lines = Lines(1000)
    >>> [lines.due(done) for done in (1, 2, 1000)]
    [True, False, True]
    """

    def __init__(self, total: int) -> None:
        self.total, self.start = total, time.monotonic()
        self._last = -DELAY

    def due(self, done: int) -> bool:
        """Whether to write a line after ``done`` steps; it counts as written."""
        now = time.monotonic() - self.start
        if done < self.total and now - self._last < DELAY:
            return False
        self._last = now
        return True

    def left(self, done: int) -> str:
        """The time that the rest takes, as the end of a line; empty in the first seconds and at the end."""
        now = time.monotonic() - self.start
        return f" ({duration(now / done * (self.total - done))} left)" if now > DELAY and done < self.total else ""


class LongWork:
    """Warns once, early in work of ``total`` steps, where the rest will take long.

    Args:
        total: number of steps.
        measured: seconds until the time per step is known well enough.
        long: seconds from which on the rest is long.
        advice: the message for the time that the rest takes, as text; an empty one is not said.
    """

    def __init__(self, total: int, *, measured: float, long: float, advice: Callable[[str], str]) -> None:
        self.total, self.measured, self.long, self.advice, self.done = total, measured, long, advice, 0
        self.start: float | None = time.monotonic()  # None once the estimate is made

    def step(self, count: int = 1) -> None:
        """Count steps that are done."""
        self.done += count
        if self.start is None or (took := time.monotonic() - self.start) < self.measured:
            return
        self.start, left = None, took / self.done * (self.total - self.done)
        if left > self.long and (message := self.advice(duration(left))):
            warnings.warn(message, RegretlessWarning, stacklevel=2)


def duration(seconds: float) -> str:
    """Write a duration in the unit that suits it.

    >>> duration(42), duration(260), duration(9000)
    ('42 s', '4 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
