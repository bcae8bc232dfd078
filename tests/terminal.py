"""A terminal that keeps what is written to it."""

from __future__ import annotations

import io
import re

import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def text(self) -> str:
        """What was written, without the codes that move the cursor and set colors."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.getvalue())


def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal of 100 columns on which bars appear at once."""
    for name, value in {"TERM": "xterm", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("regretless.progress.DELAY", -1.0)
    return Terminal()
