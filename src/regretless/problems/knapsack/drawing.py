"""A picture of one knapsack instance and its solution, as SVG, with no package needed."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import ArrayLike

from regretless.errors import InputError

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 300, 56, 44, 44
TAKEN, LEFT_OUT = "#1f5fa8", "#c9d3de"


def draw_knapsack(values: ArrayLike, weights: ArrayLike, solution: ArrayLike, *, title: str = "") -> str:
    """Draw the slots of a day: height is the value per weight, width the weight, and the slots that are taken are dark.

    Args:
        values: ``(n,)`` values.
        weights: ``(n,)`` weights.
        solution: ``(n,)`` zeros and ones.
        title: a line above the picture.

    Returns:
        the text of an SVG file.
    """
    value, weight, taken = (np.asarray(x, dtype=np.float64) for x in (values, weights, solution))
    if value.ndim != 1 or value.shape != weight.shape or value.shape != taken.shape:
        raise InputError(
            f"values, weights and solution must be vectors of one length, got {value.shape}, {weight.shape}, "
            f"{taken.shape}"
        )
    density = value / weight
    top = float(density.max()) or 1.0
    scale_x, scale_y = (WIDTH - LEFT - 16) / float(weight.sum()), (HEIGHT - TOP - BOTTOM) / top
    starts = LEFT + scale_x * np.concatenate([[0.0], np.cumsum(weight)[:-1]])
    bars = []
    for slot, (x, w, d, t) in enumerate(zip(starts, weight * scale_x, density, taken, strict=True)):
        height = max(scale_y * d, 0.0)
        note = f"slot {slot}: value {value[slot]:.0f}, weight {weight[slot]:g}, {'taken' if t > 0.5 else 'left'}"
        bars.append(
            f'<rect x="{x:.1f}" y="{HEIGHT - BOTTOM - height:.1f}" width="{max(w - 1, 0.5):.1f}" '
            f'height="{height:.1f}" fill="{TAKEN if t > 0.5 else LEFT_OUT}"><title>{escape(note)}</title></rect>'
        )
    caption = f"{title}: " if title else ""
    total = f"value {value @ taken:.0f}, weight {weight @ taken:g}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'font-family="sans-serif" font-size="13">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="22" font-weight="bold">{escape(caption + total)}</text>',
            *bars,
            f'<line x1="{LEFT}" y1="{HEIGHT - BOTTOM}" x2="{WIDTH - 16}" y2="{HEIGHT - BOTTOM}" stroke="#444"/>',
            f'<text x="{LEFT - 6}" y="{TOP + 5}" text-anchor="end">{top:.0f}</text>',
            f'<text x="{LEFT - 6}" y="{HEIGHT - BOTTOM}" text-anchor="end">0</text>',
            f'<text x="{LEFT}" y="{HEIGHT - 22}" fill="#444">half-hour slots, each as wide as its weight</text>',
            f'<rect x="{LEFT}" y="{HEIGHT - 14}" width="10" height="10" fill="{TAKEN}"/>',
            f'<text x="{LEFT + 15}" y="{HEIGHT - 5}">taken</text>',
            f'<rect x="{LEFT + 70}" y="{HEIGHT - 14}" width="10" height="10" fill="{LEFT_OUT}"/>',
            f'<text x="{LEFT + 85}" y="{HEIGHT - 5}">left; height is the value per unit of weight</text>',
            "</svg>",
            "",
        ]
    )
