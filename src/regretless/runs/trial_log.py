"""The trials of a search in Optuna's journal, opened so that what a killed process left does no harm."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regretless.errors import FileError, RegretlessError
from regretless.optional import need
from regretless.storage import write_bytes

LOG = "trials.log"


@contextlib.contextmanager
def open_trials(folder: Path) -> Iterator[Any]:
    """Hold the Optuna study of a folder, whose lock the caller holds.

    Raises:
        FileError: the log cannot be read or written, or it is damaged.
    """
    optuna = need("optuna", pip="optuna", why="tune settings")
    path = folder / LOG
    # Optuna marks its own writes with this file. Left by a killed process it blocks the next one, for ever where its
    # target is a relative path.
    path.with_name(f"{LOG}.lock").unlink(missing_ok=True)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        _drop_torn_line(path)
        backend = optuna.storages.journal.JournalFileBackend(str(path.absolute()))
        storage = optuna.storages.JournalStorage(backend)
        study = optuna.create_study(storage=storage, study_name="regretless", load_if_exists=True)
    except (OSError, RegretlessError) as error:
        raise FileError(f"cannot keep a search in {folder}: {_cause(error)}") from error
    except Exception as error:  # a damaged log makes Optuna raise anything
        raise FileError(f"{path} is damaged or foreign: {error}") from error
    try:
        yield study
    except OSError as error:
        raise FileError(f"cannot write {path}: {_cause(error)}; trials that ended are kept") from error


def _drop_torn_line(path: Path) -> None:
    """Cut a line off that was not written to its end: Optuna would append to it, and never read the file again."""
    content = path.read_bytes() if path.exists() else b""
    whole = content.rfind(b"\n") + 1
    if whole < len(content) and content.startswith(b'{"op_code"'):  # a file of someone else is left alone
        write_bytes(path, content[:whole])


def _cause(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
