from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems.matching.drawing import draw_matching

LINKS = [1, 1, 0, 0]
SOLUTION = [1, 0, 0, 1]
FIELDS = [[0, 1], [0, 2]]


def test_picture_is_xml_with_every_node_link_and_pair() -> None:
    root = ElementTree.fromstring(draw_matching(LINKS, SOLUTION, FIELDS, title="a < b"))
    tags = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert tags.count("circle") == 4
    assert tags.count("line") == 3 + 2 + 2  # legend, links, pairs
    texts = ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]
    assert texts == ["a < b", "linked, one field: 1", "linked, two fields: 0", "not linked: 1"]


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="links must hold 4 values"):
        draw_matching(np.zeros(5), SOLUTION, FIELDS)
    with pytest.raises(InputError, match=r"fields must have shape \(2, side\)"):
        draw_matching(LINKS, SOLUTION, [0, 1])
