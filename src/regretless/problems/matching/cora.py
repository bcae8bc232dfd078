"""The Cora citation network, read from the pickled files of Planetoid, and its 27 matching instances.

``locate`` verifies the SHA-256 of every file before it is read, so the content needs no further check. Even so, a
pickle can call any function it names, and the unpickler admits only the names that these files need.

The network was cut into 27 parts with METIS (pymetis, seed 0). Each part was trimmed or filled up to 100 papers (the
papers with the fewest links inside were dropped, the dropped papers with the most links inside were added) and cut into
two sides of 50 with many links across (best swaps from 20 random starts). The resulting ids are part of this package.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from regretless.downloads.fetch import locate
from regretless.errors import FileError, InputError
from regretless.milp import Floats

PARTS = ("tx", "ty", "allx", "ally", "graph")
SameField = Literal["paper", "position"]
Ids = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Network:
    """Papers with their words and fields, and the links between them.

    Attributes:
        words: ``(papers, words)`` binary CSR matrix, float32.
        fields: ``(papers,)`` field of each paper.
        links: ``(links, 2)`` undirected links, the smaller id first, sorted, without duplicates or self-links.
    """

    words: Any
    fields: NDArray[np.int64]
    links: NDArray[np.int64]


@cache
def citation_network() -> Network:
    """Read Cora: 2708 papers, 1433 words, 7 fields, 5278 links.

    The files list the test papers separately and in another order (``ind.cora.test.index``); here every paper is at its
    own id.

    Raises:
        FileError: a file is missing or damaged.
    """
    parts = {part: read_pickle(locate(f"ind.cora.{part}")) for part in PARTS}
    return _join(parts, np.loadtxt(locate("ind.cora.test.index"), dtype=np.int64))


def _join(parts: dict[str, Any], test: NDArray[np.int64]) -> Network:
    # Row k of the stacked parts is paper order[k]; sorting puts every paper at its id.
    rows = np.argsort(np.concatenate([np.arange(parts["allx"].shape[0]), test]))
    words = sparse.csr_array(sparse.vstack([parts["allx"], parts["tx"]], format="csr")[rows], dtype=np.float32)
    words.sort_indices()
    fields = np.concatenate([parts["ally"], parts["ty"]])[rows].argmax(axis=1).astype(np.int64)
    pairs = {(min(i, j), max(i, j)) for i, neighbors in parts["graph"].items() for j in neighbors if i != j}
    return Network(words, fields, np.array(sorted(pairs), dtype=np.int64))


class _CsrState:
    """Holds the attributes of a pickled ``csr_matrix``; the matrix is built and checked afterwards."""


_reconstruct = np.empty(0).__reduce__()[0]
ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): _CsrState,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
}


class _AllowListUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"the name {module}.{name} is not allowed")
        return ALLOWED[module, name]


def read_pickle(path: Path) -> Any:
    """Read an array, a CSR matrix or a dictionary of lists that Python 2 pickled.

    Raises:
        FileError: the file cannot be read, is damaged, or names anything else; nothing it names has then run.
    """
    try:
        with path.open("rb") as file:
            value = _AllowListUnpickler(file, encoding="latin1").load()
        if isinstance(value, _CsrState):
            state = vars(value)
            value = sparse.csr_array((state["data"], state["indices"], state["indptr"]), shape=state["_shape"])
            value.check_format(full_check=True)
    except Exception as error:  # a damaged pickle can raise anything
        raise FileError(f"{path} is refused or damaged: {error}") from error
    return value


@cache
def nodes() -> Ids:
    """Ids of the papers: ``(27, 2, 50)``, the left side of each instance first; no paper occurs twice."""
    with (files(__package__) / "nodes.npz").open("rb") as file, np.load(file, allow_pickle=False) as archive:
        ids = np.stack([archive["left"], archive["right"]], axis=1).astype(np.int64)
    ids.setflags(write=False)
    return ids


def links(network: Network, ids: Ids) -> Floats:
    """Links between the two sides: ``(instances, left * right)``, 1 for a link and 0 for none, row by row."""
    papers = len(network.fields)
    keys = np.sort(network.links[:, 0] * papers + network.links[:, 1])
    left, right = _pairs(ids)
    wanted = np.minimum(left, right) * papers + np.maximum(left, right)
    return np.isin(wanted, keys).astype(np.float64).reshape(len(ids), -1)


def same_field(network: Network, ids: Ids, kind: SameField = "paper") -> Bools:
    """Pairs that share their field: the mask ``m`` of the side rows, ``(instances, left, right)``.

    ``"paper"`` is correct: ``m[k, i, j]`` compares the fields of the two papers. ``"position"`` repeats an error that
    explains the published levels: the table of fields is read at the *position* of a paper inside its part (0..99, in
    the order of the ids) instead of at its id, so that ``m`` is unrelated to the papers of the pair.

    Raises:
        InputError: ``kind`` is neither of the two.
    """
    if kind == "paper":
        left, right = _pairs(ids)
    elif kind == "position":
        left, right = _pairs(ids.reshape(len(ids), -1).argsort(axis=1).argsort(axis=1).reshape(ids.shape))
    else:
        raise InputError(f"same_field must be 'paper' or 'position', got {kind!r}")
    return np.asarray(network.fields[left] == network.fields[right])


def _pairs(ids: Ids) -> tuple[Ids, Ids]:
    left, right = np.broadcast_arrays(ids[:, 0, :, None], ids[:, 1, None, :])
    return left, right
