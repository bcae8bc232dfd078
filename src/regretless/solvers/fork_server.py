"""Imported last by the process from which those of ``processes`` fork: from here on it accepts SIGINT again.

It starts with SIGINT blocked. Python shares it with all of a program that uses ``forkserver``, and a process keeps the
mask with which it was forked: without this module, no process of the program's own could be interrupted.
"""

from __future__ import annotations

import signal
import threading

if hasattr(signal, "pthread_sigmask") and threading.current_thread() is threading.main_thread():
    _before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # one that came in the meantime is dropped
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.signal(signal.SIGINT, _before)
