from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from regretless.errors import FileError, InputError
from regretless.problems.matching import cora
from regretless.problems.matching.cora import Network, citation_network, links, nodes, read_pickle, same_field


def python2_array(values: np.ndarray) -> bytes:
    """The opcodes with which Python 2 pickled a vector: bytes are strings there."""
    return (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K"
        + bytes([len(values)])
        + b"\x85cnumpy\ndtype\nU\x02"
        + values.dtype.str[1:].encode()
        + b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U"
        + bytes([values.nbytes])
        + values.tobytes()
        + b"tb"
    )


ARRAY = b"\x80\x02" + python2_array(np.arange(3.0)) + b"."


@pytest.mark.data
def test_cora_has_its_papers_words_fields_and_links() -> None:
    network = citation_network()
    assert network.words.shape == (2708, 1433)
    assert set(network.words.data) == {1.0}
    assert sorted(np.bincount(network.fields)) == [180, 217, 298, 351, 418, 426, 818]
    assert network.links.shape == (5278, 2)
    assert (network.links[:, 0] < network.links[:, 1]).all()


@pytest.mark.data
def test_cora_equals_the_network_without_pickles() -> None:
    path = Path(os.environ["REGRETLESS_DATA"]) / "cora.npz"
    if not path.is_file():
        pytest.skip("REGRETLESS_DATA holds no cora.npz to compare with")
    network = citation_network()
    with np.load(path, allow_pickle=False) as expected:
        assert (network.words.indices == expected["indices"]).all()
        assert (network.words.indptr == expected["indptr"]).all()
        assert (network.fields == expected["labels"]).all()
        assert (network.links == expected["edges"]).all()


def test_test_papers_go_to_their_ids_and_links_are_undirected_and_unique() -> None:
    eye = sparse.csr_array(np.eye(4))
    parts = {"allx": eye[:2], "tx": eye[2:], "ally": np.eye(3)[[0, 1]], "ty": np.eye(3)[[2, 2]]}
    network = cora._join(parts | {"graph": {0: [1, 0], 1: [0, 0, 3], 3: [1]}}, np.array([3, 2]))
    assert (network.words.toarray() == np.eye(4)[[0, 1, 3, 2]]).all()
    assert network.fields.tolist() == [0, 1, 2, 2]
    assert network.links.tolist() == [[0, 1], [1, 3]]


def test_a_damaged_file_is_refused_before_it_is_unpickled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(path: Path) -> Any:
        pytest.fail(f"{path} was read")

    citation_network.cache_clear()
    monkeypatch.setenv("REGRETLESS_DATA", str(tmp_path))
    monkeypatch.setattr(cora, "read_pickle", fail)
    (tmp_path / "ind.cora.tx").write_bytes(pickle.dumps(1))
    with pytest.raises(FileError, match=r"ind.cora.tx has the wrong content: expected .* SHA-256"):
        citation_network()


def write(folder: Path, content: bytes) -> Path:
    path = folder / "sample.pickle"
    path.write_bytes(content)
    return path


def test_arrays_and_dictionaries_of_lists_are_read_as_python_2_wrote_them(tmp_path: Path) -> None:
    array = read_pickle(write(tmp_path, ARRAY))
    assert (array.dtype, array.tolist()) == (np.dtype("<f8"), [0.0, 1.0, 2.0])
    graph = read_pickle(write(tmp_path, b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85RK\x00]K\x01as."))
    assert graph == {0: [1]}


@pytest.mark.parametrize(("index", "fits"), [(1, True), (9, False)])
def test_a_csr_matrix_is_read_if_its_indices_are_inside_its_shape(tmp_path: Path, index: int, fits: bool) -> None:
    data, indices, indptr = np.array([5.0]), np.array([index], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    content = b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x04data" + python2_array(data)
    content += b"U\x07indices" + python2_array(indices) + b"U\x06indptr" + python2_array(indptr)
    path = write(tmp_path, content + b"U\x06_shapeK\x01K\x02\x86ub.")
    if fits:
        assert read_pickle(path).toarray().tolist() == [[0.0, 5.0]]
    else:
        with pytest.raises(FileError, match="must be < 2"):
            read_pickle(path)


class Call:
    """Pickles as a call of ``function(*arguments)``."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> Any:
        return self.function, self.arguments


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
        "persistent id": b"Pfile\n.",
        "extension registry": b"\x80\x02\x82\x01.",
        "state for a class": b"cnumpy\nndarray\nN}S'__setstate__'\nc__builtin__\nlist\ns\x86b.",
        "attributes for a class": b"c__builtin__\nlist\nN}S'append'\nI1\ns\x86b.",
        "bytes that do not fit the shape": ARRAY.replace(b"K\x03\x85c", b"K\x05\x85c"),
        "cut off": ARRAY[:-9],
    }


@pytest.mark.parametrize("name", gadgets(Path("x")))
def test_a_hostile_or_damaged_pickle_is_refused_and_runs_nothing(tmp_path: Path, name: str) -> None:
    marker = tmp_path / "ran"
    with pytest.raises(FileError, match="refused or damaged"):
        read_pickle(write(tmp_path, gadgets(marker)[name]))
    assert not marker.exists()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="nowhere"):
        read_pickle(tmp_path / "nowhere")


NETWORK = Network(sparse.csr_array((6, 3)), np.array([0, 0, 1, 1, 2, 0]), np.array([[0, 4], [1, 5], [2, 3]]))
IDS = np.array([[[4, 5], [0, 1]], [[3, 1], [2, 0]]])


def test_no_paper_stands_in_two_places() -> None:
    ids = nodes()
    assert ids.shape == (27, 2, 50)
    assert len(np.unique(ids)) == 2700
    assert ids.min() >= 0
    assert ids.max() < 2708


def test_links_are_found_whichever_side_the_smaller_id_is_on() -> None:
    assert links(NETWORK, IDS).tolist() == [[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]]


def test_same_field_compares_the_papers() -> None:
    assert same_field(NETWORK, IDS).tolist() == [[[False, False], [True, True]], [[True, False], [False, True]]]


def test_position_compares_the_papers_that_stand_where_the_ids_rank_in_their_part() -> None:
    # instance 0: ids 4, 5 | 0, 1 rank 2, 3 | 0, 1; instance 1: ids 3, 1 | 2, 0 rank 3, 1 | 2, 0
    expected = [[[False, False], [False, False]], [[True, False], [False, True]]]
    assert same_field(NETWORK, IDS, "position").tolist() == expected


def test_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match="'paper' or 'position', got 'author'"):
        same_field(NETWORK, IDS, "author")  # type: ignore[arg-type]


@pytest.mark.data
def test_the_instances_of_cora_have_many_links_and_most_share_a_field() -> None:
    network = citation_network()
    labels = links(network, nodes())
    assert labels.shape == (27, 2500)
    assert labels.sum(axis=1).min() >= 67
    share = labels[same_field(network, nodes()).reshape(27, -1)].sum() / labels.sum()
    assert 0.8 < share < 0.87
    assert 0.1 < same_field(network, nodes(), "position").mean() < 0.2
