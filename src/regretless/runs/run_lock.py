"""One process works on a run, however many are started on the same folder.

The operating system holds the lock for an open file. It ends with the process, also after a kill: there is no stale
lock to clean up.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from regretless.errors import FileError


class BusyError(FileError):
    """Another process is at work in a folder."""


@contextlib.contextmanager
def try_lock(path: Path | str, *, wait: float = 0.0) -> Iterator[bool]:
    """Hold the lock file ``path`` inside the block; yields whether the lock was free.

    Args:
        path: the lock file. It is made where it is missing, and stays: removing it would race with the next holder.
        wait: seconds to wait for another holder.

    Raises:
        FileError: the lock file cannot be made.
    """
    path = Path(path)
    lock = FileLock(path, thread_local=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=wait)
    except Timeout:
        pass
    except OSError as error:
        raise FileError(
            f"cannot make the lock file {path}: {error.strerror or error}; is the folder writable?"
        ) from error
    try:
        yield lock.is_locked
    finally:
        lock.release()


@contextlib.contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder inside the block.

    Raises:
        BusyError: another process is at work in the folder.
    """
    with try_lock(folder / ".lock") as held:
        if not held:
            raise BusyError(f"another process is at work in {folder}: wait for it, or choose another folder")
        yield
