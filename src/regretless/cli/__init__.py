"""The command line: the words of the Python API, and exit code 0, 1 (failed) or 2 (usage)."""

from __future__ import annotations

import sys

from regretless.errors import InputError, MissingDependencyError, RegretlessError


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    try:
        from regretless.cli.app import UsageError, app
    except ModuleNotFoundError as error:
        print(f"error: the command line needs typer and rich ({error}): pip install typer rich", file=sys.stderr)
        sys.exit(1)
    try:
        sys.exit(app(arguments, standalone_mode=False) or 0)
    except UsageError as error:
        if message := " ".join(error.format_message().split()):  # empty after a help page
            print(f"error: {message}", file=sys.stderr)
        sys.exit(2)
    except RegretlessError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, InputError) and not isinstance(error, MissingDependencyError) else 1)
    except KeyboardInterrupt as stop:
        print(f"\n{stop or 'interrupted'}", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
