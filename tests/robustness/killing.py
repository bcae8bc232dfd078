"""Start a victim, leave it alone for a while, and kill it as hard as the system can."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Nursery:
    """A process that forks victims one after the other, so that a kill does not cost an import."""

    def __init__(self, errors: Path) -> None:
        self.errors = errors
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.robustness.victims"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors.open("a"), text=True,
            # Where there is a GPU, torch has threads for gradients, which do not survive a fork.
            env=os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200", "CUDA_VISIBLE_DEVICES": ""},
        )  # fmt: skip
        assert self._line() == "ready"

    def start(self, what: str, *words: object) -> int:
        """Start a victim and return its process id."""
        assert self._process.stdin is not None
        self.errors.write_text("")
        self._process.stdin.write(json.dumps([what, *(w if isinstance(w, int) else str(w) for w in words)]) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def end(self) -> int:
        """Wait for the victim's end: its exit code, or minus the signal that ended it."""
        return int(self._line())

    def run(self, what: str, *words: object) -> float:
        """Let a victim work to its end, which must be a good one; returns the seconds that it took."""
        start = time.monotonic()
        self.start(what, *words)
        assert self.end() == 0, self.errors.read_text()[-2000:]
        return time.monotonic() - start

    def kill(self, what: str, *words: object, after: float | Callable[[], bool], number: int = signal.SIGKILL) -> int:
        """Start a victim, signal it after some seconds or as soon as something is so, and return how it ended."""
        child = self.start(what, *words)
        if callable(after):
            until = time.monotonic() + 60
            while not after() and time.monotonic() < until:
                time.sleep(0.005)
        else:
            time.sleep(after)
        # A fast victim may have come to its own end already: then that is how it ended.
        with suppress(ProcessLookupError):
            os.kill(child, number)
        return self.end()

    def close(self) -> None:
        """End the nursery itself."""
        self._process.kill()
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, f"the nursery is gone: {self.errors.read_text()[-2000:]}"
        return line


@contextmanager
def nursery() -> Iterator[Nursery]:
    """Hold a nursery for the tests of a module."""
    with tempfile.TemporaryDirectory() as folder:
        made = Nursery(Path(folder) / "errors")
        try:
            yield made
        finally:
            made.close()
