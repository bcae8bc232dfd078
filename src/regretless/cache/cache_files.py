"""Cache files: one safetensors file with a JSON header."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regretless.errors import FileError
from regretless.storage import load_state, save_state

KIND, VERSION = "cache", 1
_FIELDS = {"fingerprint", "store", "coin", "statistics"}


def save(path: Path | str, state: dict[str, Any]) -> None:
    """Write the state of a cache atomically."""
    save_state(path, state, kind=KIND, version=VERSION)


def load(path: Path | str) -> dict[str, Any]:
    """Read the state of a cache; a damaged or foreign file is an error that names it."""
    state = load_state(path, kind=KIND, version=VERSION)
    missing = _FIELDS - set(state) if isinstance(state, dict) else _FIELDS
    if missing:
        raise FileError(f"{path}: field {sorted(missing)[0]!r} is missing")
    return dict(state)
