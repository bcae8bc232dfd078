from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from regretless.errors import InputError
from regretless.tables.costs import Costs, matched, read_costs
from regretless.tables.features import Features

NAMES = ("x", "y")


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_costs_are_brought_into_the_order_of_the_model(tmp_path: Path) -> None:
    costs = read_costs(put(tmp_path / "c.csv", "y,instance,x\n1,a,2\n3,b,4\n"), NAMES)
    assert costs.values.tolist() == [[2, 1], [4, 3]]
    assert costs.instance == ("a", "b")


def test_costs_may_be_a_data_frame() -> None:
    frame = pd.DataFrame({"y": [1.0, 3.0], "day": pd.to_datetime(["2024-01-31", "2024-02-01"]), "x": [2, 4]})
    costs = read_costs(frame, NAMES, id="day")
    assert costs.values.tolist() == [[2, 1], [4, 3]]
    assert costs.instance == ("2024-01-31", "2024-02-01")
    with pytest.raises(InputError, match=r"costs: expected 2 cost columns .*unknown: z"):
        read_costs(frame.assign(z=1), NAMES, id="day")


def test_costs_may_have_one_row_per_variable(tmp_path: Path) -> None:
    text = "tag;variable;wert\nb;x;4,5\na;y;1\na;x;2\nb;y;3\n"
    costs = read_costs(put(tmp_path / "c.csv", text), NAMES, id="tag")
    assert costs.values.tolist() == [[4.5, 3], [2, 1]]
    assert costs.instance == ("b", "a")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("instance,variable,cost\na,x,1\n", "instance 'a' has no row for the variable 'y'"),
        ("instance,variable,cost\na,x,1\na,x,1\na,y,1\n", "line 3: instance 'a' has 'x' twice"),
        ("instance,variable,cost\na,x,1\na,z,1\n", r"line 3, column 'variable': 'z' is not one of the 2"),
        ("instance,variable,cost\na,x,1\na,y,\n", "line 3, column 'cost': the cell is empty"),
        (
            "instance,variable,km,cost\na,x,1,1\n",
            "expected one column with the costs .*, got km, cost: .* as in --ignore km if 'cost' holds the costs",
        ),
        ("instance,variable,cost,region\na,x,1,EU\n", "got cost, region: .* --ignore region if 'cost' holds the costs"),
        (
            "instance,variable,cost\na,x,1\nb,x,1\n",
            "column 'variable': no row is about y: add rows, or select the variables",
        ),
        (
            "instance,variable,cost\na,X,1\nb,X,1\n",
            r"line 2, .*'X' is not one of .* \(x, y\) \('x' is probably meant\)",
        ),
        ("Instance,variable,cost\na,x,1\n", r"no column 'instance' \('Instance' is probably meant\), which names"),
        (
            "instance,variable,cost\n1.2.2024,x,1\n2024-02-01,y,1\n",
            "line 3: '1.2.2024' and '2024-02-01' are one name: write",
        ),
        ("variable,cost\nx,1\n", "there is a column 'variable' but no column 'instance'"),
    ],
)
def test_wrong_costs_per_variable_are_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_costs(put(tmp_path / "c.csv", text), NAMES)


@pytest.mark.parametrize(
    ("text", "id"), [("instance,load,x,y\na,1,2,3\n", "instance"), ("day,load,x,y\n1,1,2,3\n", "day")]
)
def test_rows_with_names_need_no_other_column_for_them(tmp_path: Path, text: str, id: str) -> None:
    with pytest.raises(InputError, match=r"leave the column out \(train --ignore load\)$"):
        read_costs(put(tmp_path / "c.csv", text), NAMES, id=id)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (
            "Tag,x,y",
            "unknown: Tag; leave the column out \\(train --ignore Tag\\), or train with --id Tag if it names the rows",
        ),
        ("x", "missing: y; add y, or select .* predicted costs .train --cost-variables x."),
        ("day,item,cost", "needs the columns 'instance' and 'variable'$"),
        ("instance,Variable,cost", r"needs the columns 'instance' and 'variable' \('Variable' is probably meant\)"),
        ("2024-01-01,4.2", "the first line must name the columns"),
        ("x,yy", "missing: y; unknown: yy; add y, .*; leave the column out .train --ignore yy., or train with --id yy"),
        ("X,Y", "'X' is probably 'x', 'Y' is probably 'y'; name the columns as the model does$"),
    ],
)
def test_the_message_on_wrong_columns_says_what_to_do(tmp_path: Path, header: str, said: str) -> None:
    row = ",".join("1" for _ in header.split(","))
    with pytest.raises(InputError, match=said):
        read_costs(put(tmp_path / "c.csv", f"{header}\n{row}\n"), NAMES)


@pytest.mark.parametrize(
    "text", ["buy_1,buy_2\n1,2\n", "instance,variable,cost\na,buy_1,1\na,buy_2,2\nb,buy_1,1\nb,buy_2,2\n"]
)
def test_a_proposed_pattern_selects_no_variable_outside_of_the_objective(tmp_path: Path, text: str) -> None:
    path, names = put(tmp_path / "c.csv", text), ("buy_1", "buy_2", "rent")
    with pytest.raises(InputError, match=r"train --cost-variables 'buy_\*'"):
        read_costs(path, names, variables=(*names, "sell_1"))
    with pytest.raises(InputError, match=r"train --cost-variables buy_1 --cost-variables buy_2\)"):
        read_costs(path, names, variables=(*names, "buy_total"))


def test_an_unknown_column_beside_the_chosen_id_names_no_rows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown: holiday; leave the column out \(train --ignore holiday\)$"):
        read_costs(put(tmp_path / "c.csv", "day,x,y,holiday\n1,1,1,0\n"), NAMES, id="day")


def test_a_variable_may_be_called_instance(tmp_path: Path) -> None:
    costs = read_costs(put(tmp_path / "c.csv", "x,instance\n1,2\n"), ("instance", "x"))
    assert costs.values.tolist() == [[2, 1]]
    assert costs.instance is None


def test_arrays_are_matched_by_their_names(tmp_path: Path) -> None:
    np.savez(tmp_path / "c.npz", costs=np.array([[1.0, 2.0]]), cost_names=np.array(["y", "x"]), instance=np.array([7]))
    costs = read_costs(tmp_path / "c.npz", NAMES)
    assert costs.values.tolist() == [[2.0, 1.0]]
    assert costs.instance == ("7",)
    np.savez(tmp_path / "c.npz", costs=np.zeros((2, 3)))
    with pytest.raises(InputError, match=r"must have shape \(n, 2\), got \(2, 3\)"):
        read_costs(tmp_path / "c.npz", NAMES)


def test_days_are_matched_however_they_are_written() -> None:
    features = Features(np.array([[1.0], [2.0]]), ("a",), ("31.01.2024", "1.2.2024"))
    costs = Costs(np.zeros((2, 2)), ("2024-02-01", "2024-01-31"))
    assert matched(features, costs, names=("x", "c")).values.tolist() == [[2.0], [1.0]]


def test_rows_are_matched_by_instance_where_both_files_name_them_and_by_position_where_neither_does() -> None:
    features = Features(np.array([[1.0], [2.0]]), ("a",), ("p", "q"))
    costs = Costs(np.zeros((2, 2)), ("q", "p"))
    found = matched(features, costs, names=("x", "c"))
    assert (found.values.tolist(), found.instance) == ([[2.0], [1.0]], costs.instance)
    plain = Features(features.values, ("a",), None)
    assert matched(plain, Costs(np.zeros((2, 2)), None), names=("x", "c")).values.tolist() == [[1.0], [2.0]]
    for rows in (1, 3):
        with pytest.raises(InputError, match=f"x has 2 instances and c has {rows}; the numbers must be equal"):
            matched(plain, Costs(np.zeros((rows, 2)), None), names=("x", "c"))
    with pytest.raises(InputError, match=r"1 instance of x is not in c: p; those of c are q, r"):
        matched(features, Costs(np.zeros((2, 2)), ("q", "r")), names=("x", "c"))
    with pytest.raises(InputError, match=r"those of c are P, q: 'p' is probably 'P': write the names in the same way"):
        matched(features, Costs(np.zeros((2, 2)), ("P", "q")), names=("x", "c"))
    with pytest.raises(InputError, match="x has 2 instances and c has 3"):
        matched(plain, Costs(np.zeros((3, 2)), None), names=("x", "c"))


def test_two_files_of_which_one_names_its_rows_are_refused() -> None:
    named, plain = (Features(np.zeros((2, 1)), ("a",), names) for names in (("p", "q"), None))
    with pytest.raises(
        InputError, match=r"x names its rows and c does not, .*: name the rows of both .* or of neither"
    ):
        matched(named, Costs(np.zeros((2, 2)), None), names=("x", "c"))
    with pytest.raises(InputError, match="c names its rows and x does not"):
        matched(plain, Costs(np.zeros((2, 2)), ("p", "q")), names=("x", "c"))


def test_costs_without_the_column_that_names_the_rows_are_refused(tmp_path: Path) -> None:
    table = put(tmp_path / "c.csv", "x,y\n1,2\n")
    assert read_costs(table, NAMES).instance is None
    with pytest.raises(InputError, match="no column 'day', which names the rows; there are x, y: add it, rename"):
        read_costs(table, NAMES, id="day")


def test_a_column_that_is_no_cost_is_called_unknown_whatever_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_text("day,a,b\n2024-01-01,1,2\n")
    with pytest.raises(
        InputError, match=r"c\.csv, line 1: expected 2 cost columns \(a, b\), got 3; unknown: day; leave"
    ):
        read_costs(path, ("a", "b"))
