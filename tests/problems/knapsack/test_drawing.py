from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems.knapsack.drawing import draw_knapsack
from regretless.problems.pictures import CHOSEN


def test_taken_slots_are_dark_and_totals_are_told():
    picture = draw_knapsack([6.0, 9.0, 3.0], [3, 3, 3], [1, 1, 0], title="a < b")
    root = ElementTree.fromstring(picture)
    bars = [group for group in root.iter("{http://www.w3.org/2000/svg}g") if group.get("id", "").startswith("slot-")]
    assert [CHOSEN in ElementTree.tostring(bar, encoding="unicode") for bar in bars] == [True, True, False]
    assert bars[0][0].text == "slot 0: value 6, weight 3, taken"
    assert "a &lt; b: value 15, weight 6" in picture


def test_days_without_value_are_drawn():
    ElementTree.fromstring(draw_knapsack(np.zeros(4), np.ones(4), np.zeros(4)))


def test_vectors_of_different_lengths_are_refused():
    with pytest.raises(InputError, match="vectors of one length"):
        draw_knapsack([1.0], [1.0, 2.0], [1.0])
