"""Reader of ICON challenge instance files (CSPLib problem 59)."""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path

from regretless.errors import FileError
from regretless.problems.energy.instance import MINUTES_PER_DAY, Instance, Machine, Task

# float() would also take 'nan', 'inf' and '1_000', which no instance means.
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# Solvers refuse coefficients beyond this; a larger field is a damaged one.
_LARGEST = 1e15


def read_icon(path: Path | str) -> Instance:
    """Read an instance file with any number of machines, tasks and resources.

    The lines are: minutes per slot; number of resources; number of machines; for each machine ``id idle up down`` and a
    line of capacities; number of tasks; for each task ``id duration earliest latest power`` and a line of usages.
    Empty lines are passed over.

    Args:
        path: the file.

    Returns:
        The instance, named after the file.

    Raises:
        FileError: the file cannot be read, or a line is not what the format asks for; the message names file and line.
    """
    lines = _Lines(Path(path))
    minutes = lines.whole("the minutes per slot", low=1)
    if MINUTES_PER_DAY % minutes:
        raise lines.error(f"minutes per slot that divide {MINUTES_PER_DAY}")
    resources = lines.whole("the number of resources", low=1)
    machines: dict[int, Machine] = {}
    # A damaged count of billions ends at the first line that is missing.
    for _ in range(lines.whole("the number of machines", low=1)):
        machine = _machine(lines, resources, machines)
        machines[machine.id] = machine
    tasks: dict[int, Task] = {}
    for _ in range(lines.whole("the number of tasks", low=1)):
        task = _task(lines, resources, tasks)
        tasks[task.id] = task
        if fault := task.fault(MINUTES_PER_DAY // minutes, tuple(machines.values())):
            # The usages stand on the line that was just read, all the rest on the one before.
            expected, _, got = fault.partition(", got ")
            raise lines.error(expected, got, back=0 if expected.startswith("resource") else 1)
    lines.end()
    return Instance(minutes, tuple(machines.values()), tuple(tasks.values()), name=Path(path).stem)


def _machine(lines: _Lines, resources: int, known: dict[int, Machine]) -> Machine:
    id_, idle, up, down = lines.numbers("the fields 'id idle up down' of a machine", 4)
    whole = lines.new_id(id_, "machine", known)
    return Machine(whole, idle, up, down, lines.numbers(f"the capacities of machine {whole}", resources))


def _task(lines: _Lines, resources: int, known: dict[int, Task]) -> Task:
    id_, duration, earliest, latest, power = lines.numbers(
        "the fields 'id duration earliest latest power' of a task", 5
    )
    whole = lines.new_id(id_, "task", known)
    return Task(
        whole,
        duration=lines.as_whole(duration, f"the duration of task {whole}"),
        earliest=lines.as_whole(earliest, f"the earliest start of task {whole}"),
        latest=lines.as_whole(latest, f"the latest end of task {whole}"),
        power=power,
        usage=lines.numbers(f"the resource usages of task {whole}", resources),
    )


class _Lines:
    """The lines of a file that hold something, and where we are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.exists() and not path.is_file():
                raise OSError("it is no regular file")  # a device may have no end
            text = path.read_bytes().decode("utf-8")
        except (OSError, ValueError) as error:
            raise FileError(f"cannot read {path} as an ICON instance: {error}") from error
        lines = text.split("\n")
        self._lines = [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]
        self._last = len(lines)
        self._next = 0

    def error(self, expected: str, got: str = "", *, back: int = 0) -> FileError:
        """Build the error for the line just read, or the one ``back`` lines before."""
        number, text = self._lines[self._next - 1 - back]
        return FileError(f"{self.path}, line {number}: expected {expected}, got {got or repr(text[:60])}")

    def numbers(self, expected: str, length: int) -> tuple[float, ...]:
        """Read one line of ``length`` numbers from 0 on."""
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

    def as_whole(self, value: float, expected: str) -> int:
        """Refuse a fraction where a whole number is meant; 12.0 is one."""
        if value != int(value):
            raise self.error(f"{expected} as a whole number", f"{value:g}")
        return int(value)

    def whole(self, expected: str, *, low: int) -> int:
        """Read one line that holds one whole number."""
        value = self.as_whole(self.numbers(expected, 1)[0], expected)
        if value < low:
            raise self.error(f"{expected}, at least {low}")
        return value

    def new_id(self, value: float, kind: str, known: Container[int]) -> int:
        """Refuse an id that another machine or task has."""
        whole = self.as_whole(value, f"the id of a {kind}")
        if whole in known:
            raise self.error(f"a {kind} with an id of its own", f"the id {whole} a second time")
        return whole

    def end(self) -> None:
        """Refuse anything that comes after the last task."""
        if self._next < len(self._lines):
            self._next += 1
            raise self.error("the end of the file after the last task")
