"""Ctrl-C, termination and a closed terminal end a run after the current step, so that nothing is lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

# Windows has no SIGHUP. A closed terminal is SIGBREAK there, and so is Ctrl-Break.
NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
SIGNALS = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]


Handlers = dict[signal.Signals, Any]


def catch_signals(handler: Callable[[int, FrameType | None], None]) -> Handlers:
    """Let ``handler`` handle the signals that end a process, and return the handlers that it replaces.

    Signals can be caught only in the main thread; in other threads this does nothing. A signal that is ignored, such as
    SIGHUP under ``nohup``, stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    caught = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in caught}


def restore_signals(before: Handlers) -> None:
    """Set the handlers that ``catch_signals`` returned; a second call does nothing."""
    while before:
        number, handler = before.popitem()
        # None stands for a handler that was not set from Python and cannot be restored.
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


class Interrupted(KeyboardInterrupt):
    """Training was interrupted and ended after a step, with a checkpoint where one was requested."""


def kept_in(path: Path | None, what: str = "it") -> str:
    """What an interruption leaves, and what continues it, for messages."""
    if path is None:
        return "nothing was kept (no checkpoint was requested)"
    return f"{what} is kept in {path}; the same call continues it (train, retrain: with --resume)"


class Interruption:
    """While it is entered, the first SIGINT, SIGTERM or SIGHUP sets ``received``; a second one ends the process.

    See ``catch_signals``: in other threads than the main one this does nothing.

    Attributes:
        received: name of the signal, or an empty text.
    """

    def __init__(self) -> None:
        self.received = ""
        self._before: Handlers = {}

    def __enter__(self) -> Interruption:
        self._before = catch_signals(self._catch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        restore_signals(self._before)

    def _catch(self, number: int, frame: FrameType | None) -> None:
        self.received = signal.Signals(number).name
        restore_signals(self._before)
