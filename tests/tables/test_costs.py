from __future__ import annotations

from pathlib import Path

import numpy as np
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


def test_rows_are_matched_by_instance_where_both_files_name_them() -> None:
    features = Features(np.array([[1.0], [2.0]]), ("a",), ("p", "q"))
    costs = Costs(np.zeros((2, 2)), ("q", "p"))
    assert matched(features, costs, names=("x", "c")).values.tolist() == [[2.0], [1.0]]
    plain = Costs(np.zeros((2, 2)), None)
    assert matched(features, plain, names=("x", "c")).values.tolist() == [[1.0], [2.0]]
    with pytest.raises(InputError, match=r"1 instances of x are not in c: p"):
        matched(features, Costs(np.zeros((2, 2)), ("q", "r")), names=("x", "c"))
    with pytest.raises(InputError, match="x has 2 instances and c has 3"):
        matched(features, Costs(np.zeros((3, 2)), None), names=("x", "c"))
