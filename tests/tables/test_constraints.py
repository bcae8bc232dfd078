from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.family import Family
from regretless.milp import MILP
from regretless.tables.constraints import read_constraints, vary_one

inf = np.inf
MODEL = MILP(
    [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 0.0, 1.0]],
    row_lower=[-inf, 1.0, 2.0, 0.0],
    row_upper=[2.0, inf, 2.0, 5.0],
    upper=9.0,
    names=["a", "b", "c"],
    row_names=["capacity", "need", "exact", "range"],
)


def put(folder: Path, text: str) -> Path:
    path = folder / "r.csv"
    path.write_text(text)
    return path


def test_a_column_of_a_row_is_its_right_hand_side(tmp_path: Path) -> None:
    text = "row:capacity,row:need,row:exact,row_lower:range,row_upper:range\n3,2,4,1,6\n2,1,2,0,5\n"
    found = read_constraints(put(tmp_path, text), MODEL)
    assert found.variations["row_lower"].tolist() == [[-inf, 2, 4, 1], [-inf, 1, 2, 0]]
    assert found.variations["row_upper"].tolist() == [[3, inf, 4, 6], [2, inf, 2, 5]]
    family = Family.vary(MODEL)
    assert found.join(family, None, 2, names=("r", "c")) == [1, 0], "the second line is the model itself"


def test_bounds_and_known_costs_belong_to_variables(tmp_path: Path) -> None:
    found = read_constraints(put(tmp_path, "fixed:a,upper:b,lower:c\n5e20,1e20,1\n"), MODEL)
    assert found.variations["fixed_cost"].tolist() == [[5e20, 0, 0]], "a cost is a number, of whatever size"
    assert found.variations["upper"].tolist() == [[9, inf, 9]]
    assert found.variations["lower"].tolist() == [[0, 0, 1]]


def test_rows_are_matched_by_instance_or_by_position_and_a_mixture_is_refused(tmp_path: Path) -> None:
    found = read_constraints(put(tmp_path, "instance,row:capacity\nmon,1\ntue,3\n"), MODEL)
    family = Family.vary(MODEL)
    ids = found.join(family, ("tue", "mon"), 2, names=("r.csv", "c.csv"))
    assert [float(family[i].row_upper[0]) for i in ids] == [3.0, 1.0]
    with pytest.raises(InputError, match=r"1 instance of c\.csv is not in r\.csv: wed"):
        found.join(family, ("mon", "tue", "wed"), 3, names=("r.csv", "c.csv"))
    with pytest.raises(InputError, match=r"r\.csv names its rows and c\.csv does not"):
        found.join(family, None, 2, names=("r.csv", "c.csv"))
    plain = read_constraints(put(tmp_path, "row:capacity\n1\n3\n"), MODEL)
    with pytest.raises(InputError, match=r"r\.csv has 2 instances and c\.csv has 3; the numbers must be equal"):
        plain.join(family, None, 3, names=("r.csv", "c.csv"))
    with pytest.raises(InputError, match=r"c\.csv names its rows and r\.csv does not"):
        plain.join(family, ("mon", "tue"), 2, names=("r.csv", "c.csv"))


def test_a_table_without_the_column_that_names_the_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no column 'day', which names the rows; there are .*: add it"):
        read_constraints(put(tmp_path, "row:capacity\n1\n"), MODEL, id="day")


@pytest.mark.parametrize(
    ("names", "said"), [("", "or with --id day if it names the rows$"), ("instance,", "leave it out$")]
)
def test_a_column_is_proposed_for_the_names_of_rows_that_have_none(tmp_path: Path, names: str, said: str) -> None:
    row = "a," if names else ""
    with pytest.raises(InputError, match=said):
        read_constraints(put(tmp_path, f"{names}day,row:capacity\n{row}1,1\n"), MODEL)


def test_the_constraints_of_one_instance_have_no_line() -> None:
    with pytest.raises(InputError, match=r"^constraints, column 'lower:a': no value lies between"):
        vary_one(MODEL, {"lower:a": 10.0})


def test_parquet_files_hold_the_same(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"instance": ["mon"], "row:capacity": [3]}), tmp_path / "r.parquet")
    found = read_constraints(tmp_path / "r.parquet", MODEL)
    assert (found.instance, found.variations["row_upper"][0, 0]) == (("mon",), 3.0)
    parquet.write_table(arrow.table({"lower:a": [10]}), tmp_path / "r.parquet")
    with pytest.raises(InputError, match=r"r\.parquet, row 1, column 'lower:a': no value lies between"):
        read_constraints(tmp_path / "r.parquet", MODEL)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "capacity\n1\n",
            r"r\.csv, line 1, column 'capacity': a column of constraints is named .*; did you mean row:capacity\?",
        ),
        ("note\n1\n", r"column 'note': a column of constraints is named row:NAME, .*; train with --ignore note"),
        (
            "row:capacty\n1\n",
            r"line 1, column 'row:capacty': the model has no row 'capacty'; did you mean row:capacity\?",
        ),
        ("row:CAPACITY\n1\n", r"the model has no row 'CAPACITY'; did you mean row:capacity\?"),
        ("sep=;\nrow:capacty\n1,5\n", r"line 2, column 'row:capacty': the model has no row"),
        ("upper:z\n1\n", r"line 1, column 'upper:z': the model has no variable 'z'; its variables are a, b, c"),
        ("row:range\n1\n", r"column 'row:range': .* two sides, 0 and 5: use row_lower:range and row_upper:range"),
        ("row:capacity,row_upper:capacity\n1,1\n", r"'row_upper:capacity': 'row:capacity' gives the same number"),
        ("lower:a,upper:a\n1,2\n5,2\n", r"line 3, column 'upper:a': .* between the bounds 5 and 2 of the variable 'a'"),
        (
            "row_upper:need\n0\n",
            r"line 2, column 'row_upper:need': no value lies between the bounds 1 and 0 of the row 'need'",
        ),
        ("row:capacity\n\n1\nten\n", r"line 4, column 'row:capacity': expected a finite number, got 'ten'"),
        ("instance,row:capacity\nmon,1\nmon,2\n", r"line 3, column 'instance': 'mon' occurs twice"),
        ("instance\nmon\n", "has no column with a constraint: name columns row:NAME"),
    ],
)
def test_a_bad_table_is_named_with_line_column_and_remedy(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        read_constraints(put(tmp_path, text), MODEL)


def test_an_npz_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a table must be a \.csv, \.xlsx or \.parquet file"):
        read_constraints(tmp_path / "r.npz", MODEL)


def test_a_column_that_is_no_constraint_is_named_whatever_it_holds(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("day,row:capacity\n2024-01-01,1\n")
    with pytest.raises(InputError, match=r"r\.csv, line 1, column 'day': a column of constraints is named row:NAME"):
        read_constraints(tmp_path / "r.csv", MODEL)


def test_rows_with_tiny_coefficients_have_sides_in_the_units_of_the_file(tmp_path: Path) -> None:
    tiny = MILP([[1e-5, 2e-5]], row_lower=0.0, row_upper=1e-5, names=["a", "b"], row_names=["capacity"])
    found = read_constraints(put(tmp_path, "row_upper:capacity\n3e-5\n1e-5\n"), tiny)
    assert found.join(Family.vary(tiny), None, 2, names=("r", "c")) == [1, 0]
    assert vary_one(tiny, {"row_upper:capacity": 3e-5}).check([[1, 1]]).tolist() == [True]
    with pytest.raises(InputError, match="has two sides, 0 and 1e-05"):
        read_constraints(put(tmp_path, "row:capacity\n3e-5\n"), tiny)


def test_rows_that_a_table_does_not_name_stay_as_they_are() -> None:
    rows = [[1e-5, 2e-5], [1e-5, 1e-5]]  # scaled in the model
    tiny = MILP(rows, row_upper=[1e-5, 2e-5], names=["a", "b"], row_names=["one", "two"])
    assert vary_one(tiny, {"row:one": 3e-5}).written("row_upper").tolist() == [3e-5, 2e-5]


def test_what_is_no_constraint_of_one_instance_is_named() -> None:
    with pytest.raises(InputError, match="column 'capacity': a column of constraints is named row:NAME"):
        vary_one(MODEL, {"capacity": 1.0})
