"""Reader of ICON challenge instance files (CSPLib problem 59)."""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path

from regretless.errors import FileError
from regretless.problems.energy.instance import MINUTES_PER_DAY, Instance, Machine, Task

# float() also accepts 'nan', 'inf' and '1_000', which are not valid in an instance.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# Solvers refuse larger coefficients; a larger field is damaged.
_LARGEST = 1e15


def read_icon(path: Path | str) -> Instance:
    """Read an instance file with any number of machines, tasks and resources.

    The lines are: minutes per slot; number of resources; number of machines; per machine ``id idle up down`` and a
    line of capacities; number of tasks; per task ``id duration earliest latest power`` and a line of usages. Empty
    lines are skipped.

    Returns:
        The instance, named after the file.

    Raises:
        FileError: the file cannot be read or a line does not have the format; the message names file and line.
    """
    lines = _Lines(Path(path))
    minutes = lines.count("the minutes per slot")
    if MINUTES_PER_DAY % minutes:
        raise lines.error(f"minutes per slot that divide {MINUTES_PER_DAY}")
    resources = lines.count("the number of resources")
    machines: dict[int, Machine] = {}
    # A damaged count of billions ends at the first missing line.
    for _ in range(lines.count("the number of machines")):
        number, idle, up, down = lines.numbers("the fields 'id idle up down' of a machine", 4)
        id_ = lines.new_id(number, "machine", machines)
        machines[id_] = Machine(id_, idle, up, down, lines.numbers(f"the capacities of machine {id_}", resources))
    tasks: dict[int, Task] = {}
    for _ in range(lines.count("the number of tasks")):
        number, *times, power = lines.numbers("the fields 'id duration earliest latest power' of a task", 5)
        id_ = lines.new_id(number, "task", tasks)
        names = ("duration", "earliest start", "latest end")
        slots = [lines.integer(t, f"the {name} of task {id_}") for t, name in zip(times, names, strict=True)]
        usage = lines.numbers(f"the resource usages of task {id_}", resources)
        task = Task(id_, slots[0], slots[1], slots[2], power, usage)
        if fault := task.fault(MINUTES_PER_DAY // minutes, tuple(machines.values())):
            # The usages are on the line just read, everything else on the line before.
            expected, _, got = fault.partition(", got ")
            raise lines.error(expected, got, back=0 if expected.startswith("resource") else 1)
        tasks[id_] = task
    lines.end()
    return Instance(minutes, tuple(machines.values()), tuple(tasks.values()), name=Path(path).stem)


class _Lines:
    """The non-empty lines of a file, and the current position."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.exists() and not path.is_file():
                raise OSError("it is not a regular file")  # a device may have no end
            lines = path.read_bytes().decode("utf-8").split("\n")
        except (OSError, ValueError) as error:
            raise FileError(f"cannot read {path} as an ICON instance: {error}") from error
        self._lines = [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]
        self._last = len(lines)
        self._next = 0

    def error(self, expected: str, got: str = "", *, back: int = 0) -> FileError:
        """Build the error for the line just read, or for the one ``back`` lines before it."""
        number, text = self._lines[self._next - 1 - back]
        return FileError(f"{self.path}, line {number}: expected {expected}, got {got or repr(text[:60])}")

    def numbers(self, expected: str, length: int) -> tuple[float, ...]:
        """Read one line of ``length`` non-negative numbers."""
        if self._next >= len(self._lines):
            raise FileError(f"{self.path}, line {self._last}: expected {expected}, got the end of the file")
        words = self._lines[self._next][1].split()
        self._next += 1
        if len(words) != length:
            raise self.error(f"{expected} ({length} numbers)")
        for word in words:
            if not _NUMBER.fullmatch(word) or not 0 <= float(word) <= _LARGEST:
                raise self.error(f"{expected} as numbers between 0 and {_LARGEST:g}", repr(word[:60]))
        return tuple(float(word) for word in words)

    def integer(self, value: float, expected: str) -> int:
        """Refuse a fraction; 12.0 is an integer."""
        if value != int(value):
            raise self.error(f"{expected} as an integer", f"{value:g}")
        return int(value)

    def count(self, expected: str) -> int:
        """Read one line that holds one positive integer."""
        value = self.integer(self.numbers(expected, 1)[0], expected)
        if value < 1:
            raise self.error(f"{expected}, at least 1")
        return value

    def new_id(self, value: float, kind: str, known: Container[int]) -> int:
        """Refuse an id that another machine or task has."""
        id_ = self.integer(value, f"the id of a {kind}")
        if id_ in known:
            raise self.error(f"a {kind} with its own id", f"the id {id_} a second time")
        return id_

    def end(self) -> None:
        """Refuse anything after the last task."""
        if self._next < len(self._lines):
            self._next += 1
            raise self.error("the end of the file after the last task")
