from __future__ import annotations

import json

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.tables.cells import Cells
from regretless.tables.encoded_column import Column, learned


def cells(name: str, values: list[object]) -> Cells:
    return Cells("x.csv", {name: values}, [f"line {k + 2}" for k in range(len(values))])


def test_a_column_of_numbers_has_their_range_and_survives_json() -> None:
    column = learned(cells("wind", [float(k) for k in range(12)]), "wind", False, "refuse", "")
    assert (column.kind, column.range, column.features) == ("number", (0.0, 11.0), ["wind"])
    assert Column.from_dict(json.loads(json.dumps(column.as_dict()))) == column


def test_a_column_of_an_older_version_has_no_range_and_writes_none() -> None:
    old = {"name": "wind", "kind": "number", "parts": [], "other": False, "fill": None, "gaps": False, "mark": ""}
    assert Column.from_dict(old).range is None
    assert "range" not in Column.from_dict(old).as_dict()


@pytest.mark.parametrize("limits", [[1.0], [0.0, float("nan")], [0.0, 1.0, 2.0]])
def test_a_range_that_is_none_is_refused(limits: list[float]) -> None:
    with pytest.raises(ValueError, match="a column with the range"):
        Column.from_dict(Column("wind", "number").as_dict() | {"range": limits})


def test_levels_become_one_feature_each_and_rare_ones_share_one() -> None:
    column = learned(cells("zone", ["n"] * 3 + ["s"] * 3 + ["e"]), "zone", False, "refuse", "")
    assert column.features == ["zone=n", "zone=s", "zone=other"]
    found = column.encoded(cells("zone", ["s", "e", "w"]), "refuse", "refuse")
    assert np.array_equal(found, [[0, 1, 0], [0, 0, 1], [0, 0, 1]])


def test_empty_cells_are_refused_or_filled_with_the_median() -> None:
    given = cells("wind", [1.0, None, 5.0, 3.0])
    with pytest.raises(InputError, match=r"column 'wind'.*the cell is empty"):
        learned(given, "wind", False, "refuse", "")
    column = learned(given, "wind", False, "fill", "")
    assert column.encoded(given, "fill", "refuse").tolist() == [[1.0, 0.0], [3.0, 1.0], [5.0, 0.0], [3.0, 0.0]]
