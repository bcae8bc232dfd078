"""Ctrl-C, termination and a closed terminal end a run after the current step, so that nothing is lost."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

# Windows has no SIGHUP. A closed terminal is SIGBREAK there, and so is Ctrl-Break.
NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
SIGNALS = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]


class Interrupted(KeyboardInterrupt):
    """Training was interrupted and ended after a step, with a checkpoint where one was requested."""


def kept_in(path: Path | None, what: str = "it") -> str:
    """What an interruption leaves, and what continues it, for messages."""
    if path is None:
        return "nothing was kept (no checkpoint was requested)"
    return f"{what} is kept in {path}; the same call continues it (train, retrain: with --resume)"


class Interruption:
    """While it is entered, the first SIGINT, SIGTERM or SIGHUP sets ``received``; a second one ends the process.

    Signals can be caught only in the main thread; in other threads this does nothing. A signal that is ignored, such as
    SIGHUP under ``nohup``, stays ignored.

    Attributes:
        received: name of the signal, or an empty text.
    """

    def __init__(self) -> None:
        self.received = ""
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._catch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _catch(self, number: int, frame: FrameType | None) -> None:
        self.received = signal.Signals(number).name
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            # None stands for a handler that was not set from Python and cannot be restored.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        self._before = {}
