"""Draw losses and their gradients on the two-variable example of the method pages: choose one of two items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from regretless.cache import SolutionCache
from regretless.charts import Panel, Point, Series, SeriesStyle, draw_panels, svg_file
from regretless.losses import Loss
from regretless.milp import MILP
from regretless.problem import Problem


def example() -> Problem:
    """Choose at most one of two items, the one of more value: ``max c . x``, ``x_1 + x_2 <= 1``."""
    return Problem(MILP([[1.0, 1.0]], row_upper=1.0), sense="max", name="one of two")


def cached() -> SolutionCache:
    """A cache of all three solutions of the example: nothing, the first item, the second; nothing is solved."""
    solutions = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    return SolutionCache(example(), solutions, p_solve=0.0, dtype=torch.float64)


def line(label: str, color: int, x: torch.Tensor, y: torch.Tensor | Sequence[float], **style: str) -> Series:
    """A line without markers."""
    points = tuple(Point(float(a), float(b)) for a, b in zip(x, y, strict=True))
    return Series(label, SeriesStyle(color, **({"marker": ""} | style)), points, color)


def save(path: Path, panels: Sequence[Panel]) -> None:
    """Draw panels below each other, and write them as SVG."""
    chart = draw_panels(panels, size=(6.4, 2.6 if len(panels) > 1 else 3.4), legend=True)
    assert chart is not None
    path.write_text(svg_file(chart), encoding="utf-8")


def draw(path: Path, losses: Mapping[str, Loss]) -> None:
    """Draw each loss and its gradient over the predicted value of the first item, whose true value is 2."""
    first = torch.linspace(-1.0, 3.0, 401, dtype=torch.float64)
    true = torch.tensor([2.0, 1.0], dtype=torch.float64).expand(len(first), 2)
    best = torch.tensor([1.0, 0.0], dtype=torch.float64).expand(len(first), 2)
    above, below = [line("regret", 6, first, (first < 1.0).double(), dash="--")], []
    for position, (label, loss) in enumerate(losses.items(), start=1):
        predicted = torch.stack([first, torch.ones_like(first)], dim=1).requires_grad_()
        values = loss(predicted, true, best)
        (gradient,) = torch.autograd.grad(values.sum(), predicted)
        above.append(line(label, position, first, values.detach()))
        below.append(line(label, position, first, gradient[:, 0]))
    title = "predicted value of the first item (true 2); the second is predicted 1 (true 1)"
    save(path, [Panel(above, title, "loss"), Panel(below, title, "gradient")])
