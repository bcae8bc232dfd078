"""A Gantt chart of a schedule as SVG, without a plotting library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from regretless.problems.energy.formulation import Assignment
from regretless.problems.energy.instance import Instance, Task

_SLOT, _LANE, _LEFT, _TOP, _PRICES, _GAP = 15, 20, 90, 34, 70, 10
# Distinct and readable on white, and with any colour blindness told apart by the labels.
_COLOURS = ("#4477aa", "#228833", "#aa3377", "#997700", "#336688", "#774488", "#557722", "#994455")


def gantt(
    instance: Instance, assignments: Sequence[Assignment], *, prices: Sequence[float] | None = None, title: str = ""
) -> str:
    """Draw a schedule: a band a machine, a bar a task, and, where they are given, the prices above.

    Args:
        instance: what was scheduled.
        assignments: as ``schedule`` returns them.
        prices: one a slot.
        title: above the picture; the instance's name where it is empty.

    Returns:
        The text of an SVG file.
    """
    tasks = {task.id: task for task in instance.tasks}
    width = _LEFT + instance.slots * _SLOT + 20
    parts, y = [_text(_LEFT, 20, title or instance.name, size=15)], _TOP
    if prices is not None:
        parts += _curve(prices, y)
        y += _PRICES + _GAP
    top = y
    for machine in instance.machines:
        mine = [(tasks[a.task], a.start) for a in assignments if a.machine == machine.id]
        lanes = _lanes(mine)
        height = max(1, max(lanes, default=-1) + 1) * _LANE
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="{instance.slots * _SLOT}" height="{height}" fill="#f2f2f2"/>')
        parts.append(_text(_LEFT - 8, y + height / 2 + 4, f"machine {machine.id}", anchor="end"))
        for (task, start), lane in zip(mine, lanes, strict=True):
            parts += _bar(task, start, y + lane * _LANE)
        y += height + _GAP
    parts += _hours(instance, top, y)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y + 40}" font-family="sans-serif">\n'
        f'<rect width="{width}" height="{y + 40}" fill="white"/>\n{body}\n</svg>\n'
    )


def _lanes(mine: Sequence[tuple[Task, int]]) -> list[int]:
    """For each task the first line of the band that is free when it starts."""
    lanes = [0] * len(mine)
    free: list[int] = []
    for i in sorted(range(len(mine)), key=lambda i: (mine[i][1], mine[i][0].id)):
        task, start = mine[i]
        lane = next((k for k, end in enumerate(free) if end <= start), len(free))
        free[lane : lane + 1] = [start + task.duration]
        lanes[i] = lane
    return lanes


def _bar(task: Task, start: int, y: float) -> list[str]:
    x, width = _LEFT + start * _SLOT, task.duration * _SLOT
    colour = _COLOURS[task.id % len(_COLOURS)]
    tip = f"task {task.id}: slots {start} to {start + task.duration - 1}, power {task.power:g}"
    return [
        f'<rect x="{x + 1}" y="{y + 1}" width="{width - 2}" height="{_LANE - 2}" rx="3" fill="{colour}">'
        f"<title>{escape(tip)}</title></rect>",
        _text(x + width / 2, y + 14, str(task.id), anchor="middle", colour="white"),
    ]


def _curve(prices: Sequence[float], y: float) -> list[str]:
    low, high = min(prices), max(prices)
    scale = (_PRICES - 4) / ((high - low) or 1.0)
    steps = []
    for slot, price in enumerate(prices):
        level = y + _PRICES - 2 - (price - low) * scale
        steps += [f"{_LEFT + slot * _SLOT},{level:.1f}", f"{_LEFT + (slot + 1) * _SLOT},{level:.1f}"]
    return [
        f'<polyline points="{" ".join(steps)}" fill="none" stroke="#cc3311" stroke-width="1.5"/>',
        _text(_LEFT - 8, y + 12, f"price {high:.0f}", anchor="end"),
        _text(_LEFT - 8, y + _PRICES, f"{low:.0f}", anchor="end"),
    ]


def _hours(instance: Instance, top: float, bottom: float) -> list[str]:
    parts = []
    for hour in range(0, 25, 3):
        x = _LEFT + hour / instance.slot_hours * _SLOT
        parts.append(f'<line x1="{x:g}" y1="{top}" x2="{x:g}" y2="{bottom}" stroke="#bbbbbb" stroke-width="0.5"/>')
        parts.append(_text(x, bottom + 16, f"{hour}:00", anchor="middle"))
    return parts


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#222222", size: int = 12) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
