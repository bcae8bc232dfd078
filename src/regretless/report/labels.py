"""Names beside points: each at the first free place around its point, or nowhere."""

from __future__ import annotations

from collections.abc import Sequence

from regretless.report.frame import TOP, WIDTH, Frame, px
from regretless.report.markup import Markup, tag

Box = tuple[float, float, float, float]
LETTER, LINE = 6.6, 14.0
GAP = 9.0
LONGEST = 32


def place_labels(points: Sequence[tuple[float, float, str]], area: Frame) -> list[Markup]:
    """Find a place for the label of each point.

    Args:
        points: x and y in pixels, and the text.
        area: the plot that labels must not leave.

    Returns:
        One text element a point; an empty one where every place is taken (its value is still shown on hover).
    """
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y, _ in points]
    found = []
    for x, y, text in points:
        short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
        label = Markup()
        for class_, box in _places(x, y, LETTER * len(short)):
            if _inside(box, area) and not any(_overlap(box, other) for other in taken):
                anchor = {"end": box[2], "middle": (box[0] + box[2]) / 2}.get(class_, box[0])
                label = tag("text", short, x=px(anchor), y=px(box[3] - 3.5), class_=f"label {class_}")
                taken.append(box)
                break
        found.append(label)
    return found


def _places(x: float, y: float, width: float) -> list[tuple[str, Box]]:
    half, side = LINE / 2, GAP * 0.7
    return [
        ("start", (x + GAP, y - half, x + GAP + width, y + half)),
        ("end", (x - GAP - width, y - half, x - GAP, y + half)),
        ("middle", (x - width / 2, y - GAP - LINE, x + width / 2, y - GAP)),
        ("middle", (x - width / 2, y + GAP, x + width / 2, y + GAP + LINE)),
        ("start", (x + side, y - side - LINE, x + side + width, y - side)),
        ("start", (x + side, y + side, x + side + width, y + side + LINE)),
        ("end", (x - side - width, y - side - LINE, x - side, y - side)),
        ("end", (x - side - width, y + side, x - side, y + side + LINE)),
    ]


def _inside(box: Box, area: Frame) -> bool:
    return box[0] >= area.x.start and box[2] <= WIDTH and box[1] >= TOP - LINE and box[3] <= area.y.start


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
