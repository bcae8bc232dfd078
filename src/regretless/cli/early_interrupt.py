"""Ctrl-C while the command line is still importing ends it at once, without a traceback; nothing was begun yet."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType


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
