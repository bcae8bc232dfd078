from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from regretless.errors import FileError
from regretless.problems.matching import planetoid
from regretless.problems.matching.planetoid import citation_network


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


def parts(**changes: object) -> dict[str, object]:
    eye = sparse.csr_array(np.eye(4))
    good = {"allx": eye[:2], "tx": eye[2:], "ally": np.eye(3)[[0, 1]], "ty": np.eye(3)[[2, 2]]}
    return good | {"graph": {0: [1, 0], 1: [0, 0, 3], 3: [1]}} | changes


def test_test_papers_go_to_their_ids_and_links_are_undirected_and_unique() -> None:
    network = planetoid._join(parts(), np.array([3, 2]))
    assert (network.words.toarray() == np.eye(4)[[0, 1, 3, 2]]).all()
    assert network.fields.tolist() == [0, 1, 2, 2]
    assert network.links.tolist() == [[0, 1], [1, 3]]


def test_files_that_do_not_fit_are_refused() -> None:
    with pytest.raises(FileError, match="do not fit"):
        planetoid._join(parts(), np.array([2, 4]))
    with pytest.raises(FileError, match="do not fit"):
        planetoid._join(parts(ty=np.eye(3)), np.array([3, 2]))
    with pytest.raises(FileError, match="not among the 4"):
        planetoid._join(parts(graph={0: [9]}), np.array([3, 2]))
