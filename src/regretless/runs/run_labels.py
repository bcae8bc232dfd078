"""The labels of a run that is not done yet, in its folder: after an interruption none of them is solved again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

from regretless.runs.run_folder import has_epochs
from regretless.storage import TEMPORARY

FOLDER = "labels"
FILES = tuple(f"{kind}-{'?' * 32}.safetensors" for kind in ("labels", "begun"))
WORTH = 5.0  # seconds of work; a command that fails sooner leaves nothing behind


def has_labels(folder: Path) -> bool:
    """Whether a folder keeps labels of a run that is not done."""
    return any(path for pattern in FILES for path in (folder / FOLDER).glob(pattern))


@contextlib.contextmanager
def own_labels(folder: Path) -> Iterator[Path]:
    """A folder for labels within that of a run; it stays when the block fails, unless that happens at once.

    Raises:
        KeyboardInterrupt: with a message that says what was kept, where the one that came has none.
    """
    store, start, before = folder / FOLDER, time.monotonic(), has_labels(folder)
    try:
        yield store
    except BaseException as error:
        if not before and (time.monotonic() - start < WORTH or not has_labels(folder)):
            remove_labels(folder)  # also an empty folder, as a full disk leaves it
        if isinstance(error, KeyboardInterrupt) and not error.args and (kept := _kept(folder)):
            raise KeyboardInterrupt(f"interrupted: {folder} keeps {kept}") from None
        raise


def _kept(folder: Path) -> str:
    """What a folder keeps, and what continues it."""
    if has_epochs(folder):
        return "the epochs trained so far, and the same command with --resume continues"
    return "the labels (true optima) solved so far, and the same command continues" if has_labels(folder) else ""


def remove_labels(folder: Path) -> None:
    """Remove the labels of a run that is done; a folder ``labels`` of the user's own stays, with all that is in it."""
    store = folder / FOLDER
    with contextlib.suppress(OSError):  # a folder that is missing or not empty
        for pattern in (*FILES, TEMPORARY):
            for path in store.glob(pattern):
                path.unlink(missing_ok=True)
        store.rmdir()
