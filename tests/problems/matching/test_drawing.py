from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems.matching.drawing import draw_matching

SVG = "{http://www.w3.org/2000/svg}"
LINKS = [1, 1, 0, 0]
SOLUTION = [1, 0, 0, 1]
FIELDS = [[0, 1], [0, 2]]


def test_picture_is_xml_with_every_node_link_and_pair() -> None:
    root = ElementTree.fromstring(draw_matching(LINKS, SOLUTION, FIELDS, title="a < b"))
    groups = {element.get("id", ""): element for element in root.iter() if element.tag.endswith("}g")}
    assert sum(len(list(groups[f"side-{side}"].iter(f"{SVG}use"))) for side in (0, 1)) == 4
    assert sorted(name for name in groups if name.startswith("link-")) == ["link-0-0", "link-0-1"]
    assert sorted(name for name in groups if name.startswith("pair-")) == ["pair-0-0", "pair-1-1"]
    texts = ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]
    assert texts == ["a < b", "linked, one field: 1", "linked, two fields: 0", "not linked: 1"]


def test_wrong_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="links must hold 4 values"):
        draw_matching(np.zeros(5), SOLUTION, FIELDS)
    with pytest.raises(InputError, match=r"fields must have shape \(2, side\)"):
        draw_matching(LINKS, SOLUTION, [0, 1])
