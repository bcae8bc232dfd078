from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import FileError, InputError
from regretless.tables.npz_file import finite, main_array, read_arrays, strings


@given(st.binary(max_size=80))
def test_any_bytes_are_a_clear_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "t.npz"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"t\.npz"):
        read_arrays(path)


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", a=np.array([{"x": 1}], dtype=object))
    with pytest.raises(FileError, match="without pickle"):
        read_arrays(tmp_path / "t.npz")


def test_arrays_must_be_finite_numbers(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must be finite, got nan at \[1, 0\]"):
        finite(tmp_path, "a", np.array([[1.0], [np.nan]]))
    with pytest.raises(InputError, match="must hold numbers"):
        finite(tmp_path, "a", np.array(["x"]))
    assert finite(tmp_path, "a", np.array([True, False])).tolist() == [1.0, 0.0]


def test_arrays_are_found_by_name_or_because_they_are_alone(tmp_path: Path) -> None:
    assert main_array(tmp_path, {"costs": 1, "x": 2}, "costs") == "costs"
    assert main_array(tmp_path, {"x": 2}, "costs") == "x"
    with pytest.raises(InputError, match="must hold an array called 'costs', got x, y"):
        main_array(tmp_path, {"y": 1, "x": 2}, "costs")


def test_names_must_have_the_right_number_and_be_distinct(tmp_path: Path) -> None:
    assert strings(tmp_path, {"n": np.array([1, 2])}, "n", 2) == ("1", "2")
    assert strings(tmp_path, {}, "n", 2) is None
    with pytest.raises(InputError, match="holds a name twice"):
        strings(tmp_path, {"n": np.array(["a", "a"])}, "n", 2)
    with pytest.raises(InputError, match=r"must have shape \(3,\), got \(2,\)"):
        strings(tmp_path, {"n": np.array(["a", "b"])}, "n", 3)
