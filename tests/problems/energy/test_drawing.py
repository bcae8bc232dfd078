from __future__ import annotations

from xml.etree import ElementTree

import torch

from regretless.problems.energy import EnergyOracle, Instance, gantt, schedule

SVG = "{http://www.w3.org/2000/svg}"


def boxes(root: ElementTree.Element, part: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each drawn group whose id begins so."""
    found = []
    for group in root.iter(f"{SVG}g"):
        if group.get("id", "").startswith(part):
            path = next(group.iter(f"{SVG}path")).attrib["d"].replace("M", " ").replace("L", " ").replace("z", " ")
            numbers = [float(number) for number in path.split()]
            xs, ys = numbers[::2], numbers[1::2]
            found.append((min(xs), min(ys), max(xs), max(ys)))
    return found


def test_the_chart_holds_one_bar_per_task_and_none_overlap(crowded: Instance) -> None:
    prices = torch.linspace(9.0, 1.0, 12)
    decision = EnergyOracle(crowded).solve(prices[None], decision=True).decision
    assert decision is not None
    text = gantt(crowded, schedule(crowded, decision[0]), prices=prices.tolist(), title="A <day> & its tasks")
    root = ElementTree.fromstring(text)
    bars = boxes(root, "task-")
    assert len(bars) == len(crowded.tasks) == len(list(root.iter(f"{SVG}title")))
    for i, (left, top, right, bottom) in enumerate(bars):
        for left2, top2, right2, bottom2 in bars[:i]:
            assert right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
    assert "A <day> & its tasks" in [words.text for words in root.iter(f"{SVG}text")]
    assert len(boxes(root, "prices")) == 1


def test_flat_prices_and_no_prices_can_be_drawn(crowded: Instance) -> None:
    for prices in (None, [2.0] * 12):
        root = ElementTree.fromstring(gantt(crowded, [], prices=prices))
        assert len(boxes(root, "prices")) == (prices is not None)
