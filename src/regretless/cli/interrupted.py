"""What is printed when a command is interrupted."""

from __future__ import annotations

import sys

from regretless.progress import end_bars


def say_interrupted(stop: KeyboardInterrupt) -> None:
    """Print what was kept on a line of its own: a terminal shows ``^C`` where the cursor is, unless a bar ended."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    begin = "" if end_bars() or not terminal else "\n"
    print(f"{begin}{str(stop) or 'interrupted'}", file=sys.stderr)
