from __future__ import annotations

from xml.etree import ElementTree

import torch

from regretless.problems.energy import EnergyOracle, Instance, gantt, schedule

SVG = "{http://www.w3.org/2000/svg}"


def test_the_chart_holds_a_bar_a_task_and_none_overlap(crowded: Instance) -> None:
    prices = torch.linspace(9.0, 1.0, 12)
    decision = EnergyOracle(crowded).solve(prices[None], decision=True).decision
    assert decision is not None
    root = ElementTree.fromstring(
        gantt(crowded, schedule(crowded, decision[0]), prices=prices.tolist(), title="A <day> & its tasks")
    )
    bars = [bar for bar in root.iter(f"{SVG}rect") if bar.find(f"{SVG}title") is not None]
    assert len(bars) == len(crowded.tasks)
    boxes = [tuple(float(bar.attrib[key]) for key in ("x", "y", "width", "height")) for bar in bars]
    for i, (x, y, width, height) in enumerate(boxes):
        for x2, y2, width2, height2 in boxes[:i]:
            assert x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y
    assert next(text.text for text in root.iter(f"{SVG}text")) == "A <day> & its tasks"
    assert len(list(root.iter(f"{SVG}polyline"))) == 1


def test_flat_prices_and_no_prices_can_be_drawn(crowded: Instance) -> None:
    for prices in (None, [2.0] * 12):
        assert ElementTree.fromstring(gantt(crowded, [], prices=prices)) is not None
