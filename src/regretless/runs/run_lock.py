"""Claims: one process works on a run, however many are started on the same folder.

A claim is a lock that the operating system holds for an open file. It ends with the process, however that ends: there
is nothing stale to clean up after a kill.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from regretless.errors import FileError

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextlib.contextmanager
def claim(path: Path | str, *, wait: float = 0.0) -> Iterator[bool]:
    """Hold the lock file ``path`` inside the block; yields whether it was to be had.

    Args:
        path: the lock file; made where it is not there, and left there (removing it would race with the next holder).
        wait: seconds to wait for another holder.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise FileError(
            f"cannot make the lock file {path}: {error.strerror or error}; is the folder writable?"
        ) from error
    try:
        yield _try(descriptor, time.monotonic() + wait)
    finally:
        os.close(descriptor)


def _try(descriptor: int, until: float) -> bool:
    while True:
        try:
            _lock(descriptor)
            return True
        except OSError:
            if time.monotonic() >= until:
                return False
            time.sleep(0.05)
