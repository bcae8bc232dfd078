"""A Gantt chart of a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regretless.charts import Chart, chart_style, svg_file
from regretless.problems.energy.formulation import Assignment
from regretless.problems.energy.instance import Instance, Task

# Dark enough for white numbers; the numbers, not the colors, tell the tasks apart.
COLORS = ("#4477aa", "#228833", "#aa3377", "#997700", "#336688", "#774488", "#557722", "#994455")


def gantt(
    instance: Instance, assignments: Sequence[Assignment], *, prices: Sequence[float] | None = None, title: str = ""
) -> str:
    """Draw a schedule: one band per machine, one bar per task and, where they are given, the prices above.

    Args:
        instance: what was scheduled.
        assignments: as ``schedule`` returns them.
        prices: one per slot.
        title: above the picture; the name of the instance where it is empty.

    Returns:
        The text of an SVG file.
    """
    tasks = {task.id: task for task in instance.tasks}
    of_machine = [
        [(tasks[a.task], a.start) for a in assignments if a.machine == machine.id] for machine in instance.machines
    ]
    lanes = [_lanes(mine) for mine in of_machine]
    heights = [max(1, max(lane, default=-1) + 1) for lane in lanes]
    hover: dict[str, tuple[str, ...]] = {}
    with chart_style():
        from matplotlib.figure import Figure

        above, below = (0.0 if prices is None else 1.1), 0.3 + 0.26 * sum(heights) + 0.12 * len(heights)
        figure = Figure(figsize=(9.0, 0.8 + above + below), layout="constrained")
        rows: Any = figure.subplots(1 if prices is None else 2, 1, squeeze=False, sharex=True,
                                    height_ratios=[below] if prices is None else [above, below])  # fmt: skip
        axes = rows[-1, 0]
        if prices is not None:
            rows[0, 0].stairs(prices, baseline=None, color="#cc3311", linewidth=1.5, gid="prices")
            rows[0, 0].set_title("price", loc="left")
        y, centers = 0.0, []
        for mine, lane, height in zip(of_machine, lanes, heights, strict=True):
            axes.axhspan(y, y + height, color="#f2f2f2", zorder=0)
            for (task, start), place in zip(mine, lane, strict=True):
                _draw_task(axes, task, start, y + place, hover)
            centers.append(y + height / 2)
            y += height + 0.45
        axes.set_yticks(centers, [f"machine {machine.id}" for machine in instance.machines])
        hours = range(0, 25, 3)
        axes.set_xticks([hour / instance.slot_hours for hour in hours], [f"{hour}:00" for hour in hours])
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        axes.set(xlim=(0, instance.slots), ylim=(y, 0))
        figure.suptitle(title or instance.name)
        return svg_file(Chart(figure, hover))


def _draw_task(axes: Any, task: Task, start: int, y: float, hover: dict[str, tuple[str, ...]]) -> None:
    (bar,) = axes.barh(y + 0.5, task.duration, 0.86, start, color=COLORS[task.id % len(COLORS)], edgecolor="white")
    bar.set_gid(f"task-{task.id}")
    hover[f"task-{task.id}"] = (f"task {task.id}: slots {start} to {start + task.duration - 1}, power {task.power:g}",)
    axes.text(start + task.duration / 2, y + 0.5, str(task.id), ha="center", va="center", color="white", fontsize=8)


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
