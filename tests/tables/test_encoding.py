from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import FileError, InputError, RegretlessWarning
from regretless.tables.cells import Cells
from regretless.tables.encoding import Encoding


def cells(**columns: list[Any]) -> Cells:
    rows = len(next(iter(columns.values())))
    return Cells("x.csv", columns, tuple(f"line {i + 2}" for i in range(rows)), "line 1")


TABLE = cells(
    day=["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"],
    zone=["north", "south", "north", "south"],
    wind=["3", "5", "4", "4"],
    holiday=["yes", "no", "no", "no"],
)


def test_every_kind_of_column_becomes_features() -> None:
    encoding = Encoding.learn(TABLE)
    assert encoding.feature_names == (
        "day:weekday=mon", "day:weekday=tue", "day:weekday=wed", "day:weekday=thu", "day:year_sin", "day:year_cos",
        "zone=north", "zone=south", "wind", "holiday",
    )  # fmt: skip
    values = encoding.apply(TABLE)
    assert values[:, :4].tolist() == np.eye(4).tolist()
    assert values[:, 6:].tolist() == [[1, 0, 3, 1], [0, 1, 5, 0], [1, 0, 4, 0], [0, 1, 4, 0]]


def test_columns_are_matched_by_name_in_any_order() -> None:
    encoding = Encoding.learn(TABLE)
    turned = cells(**dict(reversed(TABLE.columns.items())))
    assert np.array_equal(encoding.apply(turned), encoding.apply(TABLE))
    said = r"x\.csv, line 1: expected 4 feature columns .* missing: zone; unknown: zon; .* new run"
    with pytest.raises(InputError, match=said):
        encoding.apply(cells(**{"zon" if name == "zone" else name: c for name, c in TABLE.columns.items()}))


def test_levels_that_differ_in_case_only_are_reported_and_the_known_one_is_named() -> None:
    table = cells(zone=["north", "North", "south"] * 4)
    said = r"x\.csv, line 1, column 'zone': 'North' and 'north' count as two categories: write them in one way"
    with pytest.warns(RegretlessWarning, match=said):
        Encoding.learn(table)
    with pytest.raises(InputError, match=r"'NORTH' was never seen .* south \('north' is probably meant\): correct"):
        Encoding.learn(TABLE).apply(cells(**(TABLE.columns | {"zone": ["NORTH"] * len(TABLE)})))


def test_unseen_levels_that_are_like_known_ones_are_reported_where_they_are_accepted() -> None:
    new = cells(**(TABLE.columns | {"zone": ["NORTH", "south", "west", "NORTH"]}))
    said = "line 2, column 'zone': accepted as none of the known levels: 'NORTH' is probably 'north'; write"
    with pytest.warns(RegretlessWarning, match=said) as told:
        assert Encoding.learn(TABLE, unseen="other").apply(new)[:, 6:8].tolist() == [[0, 0], [0, 1], [0, 0], [0, 0]]
    assert len(told) == 1
    rare = cells(zone=["a"] * 4 + ["b"] * 4 + ["B"])  # also a level of training, where it is rare
    encoding = Encoding.learn(rare)
    with pytest.warns(RegretlessWarning, match="line 10, column 'zone': .* 'B' is probably 'b'"):
        encoding.apply(rare)


def test_numbers_far_outside_of_training_are_reported_and_dates_words_and_booleans_are_not() -> None:
    days = [f"2024-01-{i + 1:02d}" for i in range(20)]
    table = cells(day=days, zone=["a", "b"] * 10, wind=list(range(20)), on=[True, False] * 10, one=[1.0] * 20)
    encoding = Encoding.learn(table)
    assert [column.range for column in encoding.columns] == [None, None, (0.0, 19.0), None, None]
    later = cells(day=["2031-07-01"], zone=["a"], wind=["38"], on=[False], one=[5000.0])
    assert encoding.apply(later)[0, -3:].tolist() == [38.0, 0.0, 5000.0]
    far = cells(**(later.columns | {"wind": ["3800"]}))
    with pytest.warns(RegretlessWarning, match=r"'wind' has 3,800 \(in training 0 to 19\)"):
        encoding.apply(far)
    again = Encoding.from_dict(json.loads(json.dumps(encoding.as_dict())))
    assert again == encoding
    old = encoding.as_dict()
    for column in old["columns"]:
        column.pop("range", None)
    before = Encoding.from_dict(old)
    assert before.apply(far)[0, -3] == 3800.0, "a run of an older version has no ranges"
    assert before.as_dict() == old
    assert before.ranged(encoding.apply(table)) == encoding


def test_an_empty_number_is_in_the_range() -> None:
    table = cells(wind=[*map(float, range(100, 120)), None], load=[None, *map(float, range(20))])
    encoding = Encoding.learn(table, missing="fill")
    assert [column.range for column in encoding.columns] == [(100.0, 119.0), (0.0, 19.0)]
    assert encoding.apply(cells(wind=[None], load=[None])).tolist() == [[109.5, 1.0, 9.5, 1.0]]
    assert encoding.ranged(encoding.apply(table)) == encoding


def test_a_date_that_names_rows_and_is_a_feature_is_named_once() -> None:
    encoding = Encoding.learn(TABLE, id="day")
    renamed = cells(**{"Day" if name == "day" else name: c for name, c in TABLE.columns.items()})
    with pytest.raises(
        InputError, match=r"unknown: Day; 'Day' is probably 'day'; the columns must be those of training"
    ):
        encoding.apply(renamed)


def test_the_column_of_names_in_other_case_is_reported() -> None:
    said = (
        r"no column 'instance', which names the rows \('Instance' is probably meant\): the other one counts as a feat"
    )
    with pytest.warns(RegretlessWarning, match=said):
        Encoding.learn(cells(Instance=[1, 2, 3], wind=[1.0, 2.0, 3.0]))
    assert Encoding.learn(cells(Instance=[1, 2, 3], wind=[1.0, 2.0, 3.0]), id="Instance").feature_names == ("wind",)
    encoding = Encoding.learn(cells(instance=[1, 2, 3], wind=[1.0, 2.0, 3.0]))
    with pytest.raises(
        InputError, match=r"unknown: INSTANCE; the rows are named by the column 'instance' \('INSTANCE'"
    ):
        encoding.apply(cells(INSTANCE=[1, 2, 3], wind=[1.0, 2.0, 3.0]))


def test_an_encoding_is_json_and_the_same_afterwards() -> None:
    for settings in ({}, {"missing": "fill", "unseen": "other", "id": "day", "categories": ["wind"]}):
        encoding = Encoding.learn(TABLE, **settings)  # type: ignore[arg-type]
        again = Encoding.from_dict(json.loads(json.dumps(encoding.as_dict())))
        assert again == encoding
        assert np.array_equal(again.apply(TABLE), encoding.apply(TABLE))


WRONG_MARK = {"name": "a", "kind": "number", "parts": [], "mark": ";"}
WRONG_RANGE = {"name": "a", "kind": "number", "parts": [], "range": [1.0]}


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"columns": []},
        {"missing": "x"},
        {"columns": [{"name": "a"}]},
        {"columns": [WRONG_MARK]},
        {"ignore": [3]},
        {"columns": [WRONG_RANGE]},
        {"columns": [WRONG_RANGE | {"range": ["low", "high"]}]},
        {"columns": [WRONG_RANGE | {"range": 3}]},
    ],
)
def test_damaged_json_is_named(change: dict[str, Any]) -> None:
    with pytest.raises(FileError, match=r"run/encoding\.json holds no encoding"):
        Encoding.from_dict(Encoding.learn(TABLE).as_dict() | change, "run/encoding.json")


def test_rare_levels_share_a_feature_that_also_takes_unseen_ones() -> None:
    words = ["a"] * 200 + ["b"] * 200 + ["c", "d", "d"]
    encoding = Encoding.learn(cells(zone=words))
    assert encoding.feature_names == ("zone=a", "zone=b", "zone=other")
    assert encoding.apply(cells(zone=["b", "c", "never"])).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 1]]


def test_a_level_called_other_is_not_the_feature_of_rare_levels() -> None:
    table = cells(zone=["other"] * 4 + ["north"] * 4 + ["rare"])
    encoding = Encoding.learn(table)
    assert encoding.feature_names == ("zone=north", "zone=other", "zone=other (2)")
    assert encoding.apply(table)[[0, 4, 8]].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_levels_that_are_codes_stay_apart() -> None:
    table = cells(code=["007", "7", "007", "7", "9007199254740993", "9007199254740992"] * 2)
    assert len(Encoding.learn(table, categories=["code"]).feature_names) == 4


def test_an_unseen_level_is_refused_or_counts_as_none() -> None:
    encoding = Encoding.learn(TABLE)
    new = cells(day=["2024-02-01"], zone=["west"], wind=["1"], holiday=["no"])
    with pytest.raises(
        InputError, match=r"x\.csv, line 2, column 'zone': 'west' was never seen .* north, south: .* --unseen other"
    ):
        encoding.apply(new)
    free = Encoding.learn(TABLE, unseen="other")
    assert free.apply(new)[0, 6:].tolist() == [0, 0, 1, 0]


def test_an_empty_cell_where_training_had_none_is_an_unseen_level() -> None:
    encoding = Encoding.learn(cells(zone=["north", "south"] * 2), missing="fill")
    with pytest.raises(InputError, match=r"line 2, column 'zone': an empty cell was never seen in training"):
        encoding.apply(cells(zone=[None]))


def test_empty_cells_are_refused_or_filled_by_choice() -> None:
    gaps = cells(wind=["1", None, "3", "9"], zone=["a", "a", None, None], calm=["5", "5", "6", "7"])
    with pytest.raises(InputError, match=r"line 3, column 'wind': the cell is empty: fill it, .* --missing fill"):
        Encoding.learn(gaps)
    encoding = Encoding.learn(gaps, missing="fill")
    assert encoding.feature_names == ("wind", "wind=missing", "zone=a", "zone=missing", "calm")
    assert encoding.apply(gaps)[1].tolist() == [3.0, 1.0, 1.0, 0.0, 5.0]
    # a gap where training had none counts as the median
    assert encoding.apply(cells(wind=["2"], zone=["a"], calm=[None]))[0].tolist() == [2.0, 0.0, 1.0, 0.0, 5.5]


def test_a_missing_date_is_always_refused() -> None:
    days = cells(day=["2024-01-01", None, "2024-01-03"])
    for missing in ("refuse", "fill"):
        with pytest.raises(InputError, match=r"x\.csv, line 3, column 'day': the cell is empty: write the date"):
            Encoding.learn(days, missing=missing)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"line 3, column 'day': the cell is empty: write the date"):
        Encoding.learn(cells(day=["2024-01-01", "2024-01-02"]), missing="fill").apply(days)


def test_an_id_is_no_feature_unless_it_holds_dates() -> None:
    table = cells(order=["o1", "o2", "o3"], wind=["1", "2", "3"])
    assert Encoding.learn(table, id="order").feature_names == ("wind",)
    assert Encoding.learn(cells(instance=["1", "2"], wind=["1", "2"])).feature_names == ("wind",)
    dated = Encoding.learn(TABLE, id="day")
    assert dated.feature_names[0] == "day:weekday=mon"
    with pytest.raises(InputError, match="there is no column 'ordr' for id; there are order, wind"):
        Encoding.learn(table, id="ordr")


@pytest.mark.parametrize("days", [["31/01/2024", "01/02/2024"], [20240131, 20240201]])
def test_dates_of_an_id_that_are_not_read_are_reported(days: list[Any]) -> None:
    table = cells(day=days, wind=["1", "2"])
    with pytest.warns(RegretlessWarning, match=r"x\.csv, line 1, column 'day': '.*2024.*' looks like a date"):
        assert Encoding.learn(table, id="day").feature_names == ("wind",)


def test_numeric_codes_are_categories_where_that_is_declared() -> None:
    table = cells(zone=["1", "2", "1", "2"])
    assert Encoding.learn(table).feature_names == ("zone",)
    encoding = Encoding.learn(table, categories=["zone"])
    assert encoding.feature_names == ("zone=1", "zone=2")
    assert encoding.apply(pd.DataFrame({"zone": [2.0]})).tolist() == [[0, 1]]
    with pytest.raises(InputError, match="there is no column 'zne' for categories; there are zone"):
        Encoding.learn(table, categories=["zne"])


def test_frames_and_files_have_the_same_features() -> None:
    frame = pd.DataFrame(TABLE.columns).assign(day=lambda f: pd.to_datetime(f["day"]), wind=[3.0, 5.0, 4.0, 4.0])
    frame["holiday"] = [True, False, False, False]
    encoding = Encoding.learn(TABLE)
    assert Encoding.learn(frame) == encoding
    assert np.array_equal(encoding.apply(frame), encoding.apply(TABLE))


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=40))
def test_every_row_of_a_category_has_one_feature(words: list[str]) -> None:
    values = Encoding.learn(cells(zone=words)).apply(cells(zone=words))
    assert (values.sum(axis=1) == 1).all()


def test_dates_that_only_name_the_rows_are_no_feature() -> None:
    table = cells(instance=["2024-01-01", "2024-01-02"], wind=["3", "5"])
    encoding = Encoding.learn(table)
    assert encoding.feature_names == ("wind",)
    assert encoding.apply(table).tolist() == [[3.0], [5.0]]


def test_ignored_columns_are_no_features_and_later_tables_may_lack_them() -> None:
    encoding = Encoding.learn(TABLE, ignore=["zone", "day"])
    assert encoding.feature_names == ("wind", "holiday")
    lacking = TABLE.without(["zone"])
    assert np.array_equal(encoding.apply(lacking), encoding.apply(TABLE))
    assert Encoding.from_dict(json.loads(json.dumps(encoding.as_dict()))) == encoding
    assert "ignore" not in Encoding.learn(TABLE).as_dict(), "as in files of older versions"
    with pytest.raises(
        InputError, match=r"no column 'Zone' for ignore \('zone' is probably meant\); there are day, zone"
    ):
        Encoding.learn(TABLE, ignore=["Zone"])
    with pytest.raises(InputError, match="unknown: note; leave the other columns out, or train a new run"):
        encoding.apply(cells(**(TABLE.columns | {"note": ["", "", "", ""]})))


def test_choices_are_checked() -> None:
    with pytest.raises(InputError, match="missing must be 'refuse' or 'fill' and unseen 'refuse' or 'other'"):
        Encoding.learn(TABLE, missing="mean")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"x\.csv, line 1: no column is a feature"):
        Encoding.learn(cells(instance=["a"]))


def test_one_new_row_is_read_by_the_decimal_mark_of_training() -> None:
    trained = Encoding.learn(Cells("x.csv", {"a": ["1,5", "2,25"]}, ("line 2", "line 3"), "line 1", True))
    row = Cells("new.csv", {"a": ["1,234"]}, ("line 2",), "line 1", True)
    assert trained.apply(row).tolist() == [[1.234]]
    with pytest.raises(InputError, match=r"new\.csv, line 2, column 'a': '1,234' may be 1\.234 or 1234"):
        Encoding.learn(row)
