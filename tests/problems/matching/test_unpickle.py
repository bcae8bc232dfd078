from __future__ import annotations

import collections
import contextlib
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from regretless.errors import FileError
from regretless.problems.matching import unpickle
from regretless.problems.matching.unpickle import read_pickle


def write(folder: Path, content: bytes) -> Path:
    path = folder / "sample.pickle"
    path.write_bytes(content)
    return path


class Call:
    """Pickles as a call of ``function(*arguments)``."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> Any:
        return self.function, self.arguments


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
@pytest.mark.parametrize(
    "value",
    [np.arange(12.0).reshape(3, 4), np.arange(6, dtype=">i4"), np.asfortranarray(np.ones((2, 3), dtype="f4"))],
)
def test_arrays_come_back_equal(tmp_path: Path, protocol: int, value: np.ndarray) -> None:
    if protocol < 3:
        # As Python 2 wrote it: bytes are strings there.
        state = value.__reduce__()
        content = python2_array(state)
    else:
        content = pickle.dumps(value, protocol=protocol)
    got = read_pickle(write(tmp_path, content))
    assert got.dtype == value.dtype
    assert (got == value).all()


def python2_array(state: Any) -> bytes:
    _, shape, dtype, fortran, raw = state[2]
    text = (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01"
        + b"".join(b"K" + bytes([size]) for size in shape)
        + {1: b"\x85", 2: b"\x86"}[len(shape)]
        + b"cnumpy\ndtype\nU\x02"
        + f"{dtype.kind}{dtype.itemsize}".encode()
        + b"K\x00K\x01\x87R(K\x03U\x01"
        + (b">" if dtype.byteorder == ">" else b"<")
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        + (b"\x88" if fortran else b"\x89")
        + b"U"
        + bytes([len(raw)])
        + raw
        + b"tb."
    )
    assert (pickle.loads(text, encoding="latin1") == np.ndarray(shape, dtype, raw, order="F" if fortran else "C")).all()
    return text


def test_dictionaries_of_lists_come_back_plain(tmp_path: Path) -> None:
    graph = collections.defaultdict(list, {0: [1, 2], 5: []})
    got = read_pickle(write(tmp_path, pickle.dumps(graph, protocol=2)))
    assert type(got) is dict
    assert got == {0: [1, 2], 5: []}


def test_a_csr_matrix_comes_back_equal(tmp_path: Path) -> None:
    matrix = sparse.csr_matrix(np.array([[0.0, 2.0], [3.0, 0.0]]))
    got = read_pickle(write(tmp_path, pickle.dumps(matrix, protocol=4)))
    assert (got.toarray() == matrix.toarray()).all()


def test_arrays_inside_containers_come_back(tmp_path: Path) -> None:
    got = read_pickle(write(tmp_path, pickle.dumps([{"a": (np.arange(3), 1)}], protocol=4)))
    assert got[0]["a"][0].tolist() == [0, 1, 2]
    assert got[0]["a"][1] == 1


def gadgets(marker: Path) -> dict[str, bytes]:
    command = f"touch {marker}"
    hidden = np.array([Call(os.system, command)], dtype=object)
    return {
        "os.system": pickle.dumps(Call(os.system, command)),
        "os.system, protocol 0": pickle.dumps(Call(os.system, command), protocol=0),
        "subprocess": pickle.dumps(Call(subprocess.check_output, ["touch", str(marker)])),
        "eval": pickle.dumps(Call(eval, f"open({str(marker)!r}, 'w')")),
        "exec": pickle.dumps(Call(exec, f"open({str(marker)!r}, 'w')")),
        "getattr": pickle.dumps(Call(getattr, "x", "upper")),
        "import": pickle.dumps(Call(__import__, "antigravity")),
        "open": pickle.dumps(Call(open, str(marker), "w")),
        "in an object array": pickle.dumps(hidden),
        "in a list": pickle.dumps([1, Call(os.system, command)]),
        "inst": f"(S'{command}'\nios\nsystem\n.".encode(),
        "obj": f"(cos\nsystem\nS'{command}'\no.".encode(),
        "dotted name": b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__init__\x93.",
        "numpy.load": b"cnumpy\nload\n(S'x'\ntR.",
        "runstring": b"cnumpy.testing._private.utils\nrunstring\n(S'1'\n}tR.",
        "persistent id": b"Pfile\n.",
        "extension registry": b"\x80\x02\x82\x01.",
        "build on a stand-in class": b"cnumpy\nndarray\nN}S'__setstate__'\nc__builtin__\nlist\ns\x86b.",
        "build on list": b"c__builtin__\nlist\nN}S'append'\nI1\ns\x86b.",
        "class as result": b"c__builtin__\nlist\n.",
    }


@pytest.mark.parametrize("name", gadgets(Path("x")))
def test_a_hostile_pickle_is_refused_and_runs_nothing(tmp_path: Path, name: str) -> None:
    marker = tmp_path / "ran"
    before = {cls: dict(vars(cls)) for cls in set(unpickle._ADMITTED.values())}
    with pytest.raises(FileError, match="refused or damaged"):
        read_pickle(write(tmp_path, gadgets(marker)[name]))
    assert not marker.exists()
    assert {cls: dict(vars(cls)) for cls in before} == before


@pytest.mark.parametrize("shape", [b"K\x05\x85", b"J\xff\xff\xff\xff\x85", b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86"])
def test_an_array_whose_bytes_do_not_fit_its_shape_is_refused(tmp_path: Path, shape: bytes) -> None:
    good = python2_array(np.arange(3.0).__reduce__())
    with pytest.raises(FileError, match=r"does not fit its bytes|whole numbers from 0"):
        read_pickle(write(tmp_path, good.replace(b"(K\x01K\x03\x85", b"(K\x01" + shape)))


def test_a_csr_matrix_with_indices_outside_is_refused(tmp_path: Path) -> None:
    matrix = sparse.csr_matrix(np.eye(3))
    matrix.indices[0] = 99
    with pytest.raises(FileError, match=r"indices must be < 3"):
        read_pickle(write(tmp_path, pickle.dumps(matrix, protocol=4)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere"):
        read_pickle(tmp_path / "nowhere")


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_mutated_pickles_raise_nothing_but_file_errors(tmp_path_factory: Any, data: Any) -> None:
    source = bytearray(
        data.draw(
            st.sampled_from(
                [
                    pickle.dumps(np.arange(4.0), protocol=3),
                    pickle.dumps(sparse.csr_matrix(np.eye(2)), protocol=3),
                    pickle.dumps(collections.defaultdict(list, {1: [2]}), protocol=2),
                ]
            )
        )
    )
    for place, byte in data.draw(st.lists(st.tuples(st.integers(0, len(source) - 1), st.integers(0, 255)), max_size=4)):
        source[place] = byte
    path = write(tmp_path_factory.getbasetemp(), bytes(source[: data.draw(st.integers(0, len(source)))]))
    with contextlib.suppress(FileError):
        read_pickle(path)
