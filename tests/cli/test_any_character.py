from __future__ import annotations

import io
import sys

import pytest

from regretless.cli import main


@pytest.mark.parametrize(
    ("encoding", "errors", "written"),
    [
        ("cp1252", "strict", b"\\u03bb\\u2212\xb1\n"),
        ("utf-8", "strict", "λ−±\n".encode()),
        ("ascii", "replace", b"???\n"),
    ],
)
def test_names_that_a_console_cannot_show_are_escaped(
    monkeypatch: pytest.MonkeyPatch, encoding: str, errors: str, written: bytes
) -> None:
    bytes_written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(bytes_written, encoding=encoding, errors=errors, newline="\n"))
    monkeypatch.setattr("regretless.cli._run", lambda _: print("λ−±"))
    with pytest.raises(SystemExit):
        main([])
    assert bytes_written.getvalue() == written
