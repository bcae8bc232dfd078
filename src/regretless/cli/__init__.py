"""The command line: the words of the Python API, and exit code 0, 1 (failed) or 2 (usage)."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from typing import Any

from regretless.cli import interrupts
from regretless.errors import InputError, MissingDependencyError, RegretlessError, RegretlessWarning
from regretless.progress import end_bars


def main(arguments: list[str] | None = None) -> None:
    """Run the command line, by default with the words of this process, and exit with its code."""
    interrupts.begin()
    _print_any_character()
    try:
        code = _run(arguments)
        if sys.stdout is not None:  # it is None where a shell closed it
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has left, as in: regretless ... | head -1
        _drop_output()
        code = 1
    except OSError as error:  # a full disk under standard output, or a file that no error of ours names
        _drop_output()
        print(f"error: {error}", file=sys.stderr)
        code = 1
    if arguments is None:  # the process is ours, and not that of a program that calls this function
        _leave_engines(code)
    sys.exit(code)


def _leave_engines(code: int) -> None:
    """End the process here if an engine is still at work: one that ends its solve now could abort the process.

    See ``regretless.solvers.threads``.
    """
    threads = sys.modules.get("regretless.solvers.threads")
    if threads is not None and threads.at_work():
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)


def _run(arguments: list[str] | None) -> int:
    try:
        from regretless.cli.app import UsageError, commands
    except ModuleNotFoundError as error:
        print(f"error: the command line needs typer and rich ({error}): pip install typer rich", file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # nothing was begun yet
        return 130
    try:
        with warnings.catch_warnings():
            _tell_warnings()
            return int(commands(arguments, standalone_mode=False) or 0)
    except UsageError as error:
        if message := " ".join(error.format_message().split()):  # empty after a help page
            print(f"error: {message}", file=sys.stderr)
        return 2
    except RegretlessError as error:
        end_bars()
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) and not isinstance(error, MissingDependencyError) else 1
    except KeyboardInterrupt as stop:
        interrupts.say_interrupted(stop)
        return 130


def _tell_warnings() -> None:
    """Print our own warnings as one line on standard error, without the place in the code."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, RegretlessWarning):
            print(f"warning: {message}", file=sys.stderr)
        else:
            usual(message, category, *place, **more)

    warnings.showwarning = show


def _print_any_character() -> None:
    """Write characters that the encoding of standard output does not have, as of a console of Windows, as ``\\u03bb``.

    Names in models and tables may hold any character. Python does the same for standard error.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Let nothing be written to standard output any more: Python flushes it once more at its end."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
