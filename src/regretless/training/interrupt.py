"""Ctrl-C and termination end a run after the current step, so that nothing is lost."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interruption:
    """While it is entered, the first SIGINT or SIGTERM sets ``received``; a second one ends the process at once.

    Signals can be caught only in the main thread; in other threads this does nothing.

    Attributes:
        received: name of the signal, or an empty text.
    """

    def __init__(self) -> None:
        self.received = ""
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
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
