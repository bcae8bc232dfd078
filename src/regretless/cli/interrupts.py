"""Ctrl-C: while the command line is still importing it ends at once, quietly; later a message says what was kept."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

from regretless.progress import end_bars


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(130)


def begin() -> None:
    """End the process quietly on Ctrl-C, where it is ``[python -m] regretless`` and handles the signal as usual."""
    # Windows starts regretless.exe.
    command = "regretless" in [os.path.basename(word).removesuffix(".exe") for word in sys.orig_argv[1:3]]
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if command and usual and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _end)


def finish() -> None:
    """Handle Ctrl-C as usual again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def say_interrupted(stop: KeyboardInterrupt) -> None:
    """Print what was kept on a line of its own: a terminal shows ``^C`` where the cursor is, unless a bar ended."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    begin = "" if end_bars() or not terminal else "\n"
    print(f"{begin}{str(stop) or 'interrupted'}", file=sys.stderr)
