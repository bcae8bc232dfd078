"""A picture of one matching instance and its solution, as SVG, with no package needed."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regretless.errors import InputError

WIDTH, STEP, TOP, LEFT, RIGHT = 640, 12, 64, 120, 520
FIELDS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#9c755f", "#edc948")
KINDS = (
    ("linked, one field", "#1b7837", ""),
    ("linked, two fields", "#1f5fa8", ""),
    ("not linked", "#b2182b", ' stroke-dasharray="4 3"'),
)


def draw_matching(links: ArrayLike, solution: ArrayLike, fields: ArrayLike, *, title: str = "") -> str:
    """Draw the two sides of an instance, all its links, and the matching over them.

    Nodes have the colour of their field. Links are grey; matched pairs are drawn over them, in one colour for links
    inside a field, another for links across fields, and dashed where the two are not linked at all.

    Args:
        links: ``(left * right,)`` labels.
        solution: ``(left * right,)`` matching.
        fields: ``(2, side)`` field of every paper, the left side first.
        title: a line above the picture.

    Returns:
        the text of an SVG file.
    """
    of = np.asarray(fields)
    if of.ndim != 2 or len(of) != 2:
        raise InputError(f"fields must have shape (2, side), got {of.shape}")
    side = of.shape[1]
    linked, matched = (_square(name, value, side) for name, value in (("links", links), ("solution", solution)))
    height = TOP + STEP * side + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{WIDTH // 2}" y="20" text-anchor="middle" font-size="14">{escape(title)}</text>',
    ]
    kinds = np.where(linked, np.where(of[0][:, None] == of[1], 0, 1), 2)
    counts = [int((matched & (kinds == kind)).sum()) for kind in range(3)]
    for kind, (label, colour, dash) in enumerate(KINDS):
        x = 60 + 190 * kind
        parts.append(f'<line x1="{x}" y1="40" x2="{x + 24}" y2="40" stroke="{colour}" stroke-width="2"{dash}/>')
        parts.append(f'<text x="{x + 30}" y="44">{label}: {counts[kind]}</text>')
    parts += [_line(i, j, "#d0d0d0", 0.6, "") for i, j in np.argwhere(linked)]
    parts += [_line(i, j, KINDS[kinds[i, j]][1], 1.8, KINDS[kinds[i, j]][2]) for i, j in np.argwhere(matched)]
    for column, x in ((0, LEFT), (1, RIGHT)):
        parts += [
            f'<circle cx="{x}" cy="{_height(k)}" r="4" fill="{FIELDS[int(of[column, k]) % len(FIELDS)]}"/>'
            for k in range(side)
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _square(name: str, value: ArrayLike, side: int) -> NDArray[np.bool_]:
    array: NDArray[Any] = np.asarray(value)
    if array.size != side * side:
        raise InputError(f"{name} must hold {side * side} values, got shape {array.shape}")
    return np.asarray(array.reshape(side, side) > 0.5)


def _line(i: int, j: int, colour: str, width: float, dash: str) -> str:
    ends = f'x1="{LEFT}" y1="{_height(i)}" x2="{RIGHT}" y2="{_height(j)}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{width}"{dash}/>'


def _height(position: int) -> int:
    return TOP + STEP // 2 + STEP * int(position)
