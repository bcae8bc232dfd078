from __future__ import annotations

import io
import os
import signal
import subprocess
import sys

import pytest

from regretless.cli import interrupts

from ..terminal import Terminal


def interrupted(words: list[str]) -> tuple[int, str]:
    """How a process ends that gets Ctrl-C while it imports regretless, and what it says."""
    # Every import is a line on standard error, after it is done.
    shown = os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}
    with subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True, env=shown) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.rpartition("|")[2].strip() == "numpy":
                process.send_signal(signal.SIGINT)
                break
        said = process.stderr.read()
    return process.returncode, said


def test_the_command_line_ends_quietly_while_it_is_importing() -> None:
    code, said = interrupted(["-m", "regretless", "doctor"])
    assert code == 130
    assert "Traceback" not in said


def test_a_program_that_imports_the_library_is_interrupted_as_usual() -> None:
    code, said = interrupted(["-c", "import regretless as rl; rl.MAP"])
    assert code == -signal.SIGINT
    assert "KeyboardInterrupt" in said


@pytest.mark.parametrize("command", ["/usr/bin/regretless", "/usr/Scripts/regretless.exe"])
def test_afterwards_and_elsewhere_nothing_is_changed(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    before = signal.getsignal(signal.SIGINT)
    interrupts.begin()
    assert signal.getsignal(signal.SIGINT) is before
    monkeypatch.setattr(sys, "orig_argv", ["python", command, "train"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupts.begin()
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        interrupts.finish()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("stream", "bar", "begin"),
    [(io.StringIO(), False, ""), (Terminal(), True, ""), (Terminal(), False, "\n")],
    ids=["a file", "a terminal after a bar", "a terminal that shows ^C"],
)
def test_the_message_has_a_line_of_its_own_and_none_is_empty(
    stream: io.StringIO, bar: bool, begin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(interrupts, "end_bars", lambda: bar)
    interrupts.say_interrupted(KeyboardInterrupt("after epoch 3"))
    interrupts.say_interrupted(KeyboardInterrupt())
    assert stream.getvalue() == f"{begin}after epoch 3\n{begin}interrupted\n"
