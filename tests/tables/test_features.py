from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.tables.features import feature_table, read_features

NAMES = ("x", "y")


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_long_tables_become_features_of_variables(tmp_path: Path) -> None:
    text = "variable,instance,a,b\ny,one,1,2\nx,one,3,4\nx,two,5,6\ny,two,7,8\n"
    features = read_features(put(tmp_path / "x.csv", text), NAMES)
    assert features.values.tolist() == [[[3, 4], [1, 2]], [[5, 6], [7, 8]]]
    assert (features.names, features.instance) == (("a", "b"), ("one", "two"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("variable,a\nx,1\n", r"x\.csv, line 1: .* no column 'instance', which names the instances: .* --id"),
        ("instance,variable,a\n1,z,1\n", r"x\.csv, line 2, column 'variable': 'z' is not one of the 2 cost .* new run"),
        ("instance,variable,a\n1,x,1\n1,x,2\n", r"line 3: instance '1' has 'x' twice"),
        ("instance,variable,a\n1,x,1\n", "instance '1' has no row for the variable 'y': add the row, or leave"),
        (
            "instance,Variable,a\n1,x,1\n1,y,1\n",
            r"no column 'variable' \('Variable' is probably meant\), and 'instance' n",
        ),
        ("instance\n1\n", "no column with a feature"),
        ("instance,a\n1,1\n1,2\n", r"line 3, column 'instance': '1' occurs twice"),
    ],
)
def test_tables_that_do_not_fit_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_features(put(tmp_path / "x.csv", text), NAMES)


def test_arrays_are_matched_by_their_names(tmp_path: Path) -> None:
    cube = np.arange(12.0).reshape(3, 2, 2)
    np.savez(tmp_path / "x.npz", features=cube, variable_names=np.array(["y", "x"]), feature_names=np.array(["a", "b"]))
    features = read_features(tmp_path / "x.npz", NAMES)
    assert np.array_equal(features.values, cube[:, ::-1])
    assert features.names == ("a", "b")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"features": np.zeros((2, 3, 4))}, r"must have shape \(n, 2, k\), got \(2, 3, 4\)"),
        ({"features": np.zeros(3)}, r"got \(3,\)"),
        ({"a": np.zeros((1, 1)), "b": np.zeros((1, 1))}, "must hold an array called 'features'"),
        ({"features": np.zeros((2, 1)), "instance": np.array([1])}, r"'instance' must have shape \(2,\)"),
        ({"features": np.zeros((2, 1)), "instance": np.array([1, 1])}, "holds a name twice"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays: dict[str, np.ndarray], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(InputError, match=message):
        read_features(tmp_path / "x.npz", NAMES)


def test_an_encoding_is_learned_from_the_given_instances_only_and_keeps_the_column_of_names(tmp_path: Path) -> None:
    table = feature_table(put(tmp_path / "x.csv", "day,zone\n1,a\n2,b\n3,b\n4,a\n5,c\n"), NAMES, id="day")
    encoding = table.learn([0, 1, 2, 3])
    assert (encoding.feature_names, encoding.id) == (("zone=a", "zone=b"), "day")
    text = "day,variable,wind\n1,x,1\n1,y,2\n2,x,30\n2,y,40\n"
    rows = feature_table(put(tmp_path / "y.csv", text), NAMES, id="day").learn([0], missing="fill")
    assert rows.columns[0].fill == 1.5


def test_new_rows_are_named_by_the_column_of_training(tmp_path: Path) -> None:
    encoding = feature_table(put(tmp_path / "x.csv", "day,a\nmon,1\ntue,2\n"), NAMES, id="day").learn([0, 1])
    assert read_features(tmp_path / "x.csv", NAMES, encoding).instance == ("mon", "tue")
    with pytest.raises(InputError, match="there is no column 'day', which names the rows"):
        read_features(put(tmp_path / "y.csv", "a\n1\n"), NAMES, encoding)
