"""The Cora citation network, from the files of Planetoid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from regretless.downloads.fetch import locate
from regretless.errors import FileError
from regretless.problems.matching.unpickle import read_pickle

PARTS = ("tx", "ty", "allx", "ally", "graph")


@dataclass(frozen=True)
class Network:
    """Papers, their words and fields, and who is linked to whom.

    Attributes:
        words: ``(papers, words)`` binary CSR matrix, float32.
        fields: ``(papers,)`` field of each paper.
        links: ``(links, 2)`` undirected links, the smaller id first, sorted, none twice and none to itself.
    """

    words: Any
    fields: NDArray[np.int64]
    links: NDArray[np.int64]


@cache
def citation_network() -> Network:
    """Read Cora: 2708 papers, 1433 words, 7 fields, 5278 links.

    The files hold the test papers apart and in another order (``ind.cora.test.index``): here every paper stands at its
    own id.

    Raises:
        FileError: a file is not there, damaged or refused (see ``unpickle.py``), or they do not fit.
    """
    parts = {part: read_pickle(locate(f"ind.cora.{part}")) for part in PARTS}
    index = locate("ind.cora.test.index")
    try:
        test = np.array(index.read_text(encoding="ascii").split(), dtype=np.int64)
    except (OSError, ValueError) as error:
        raise FileError(f"{index} must hold one paper's id a line: {error}") from error
    return _join(parts, test)


def _join(parts: dict[str, Any], test: NDArray[np.int64]) -> Network:
    first = parts["allx"].shape[0]
    papers = first + parts["tx"].shape[0]
    if sorted(test) != list(range(first, papers)) or len(parts["ally"]) + len(parts["ty"]) != papers:
        raise FileError(f"the files of Cora do not fit each other: {first} papers and {len(test)} test papers")
    # Row k of the stacked parts is paper order[k]; a sort puts every paper at its id.
    rows = np.argsort(np.concatenate([np.arange(first), test]))
    words = sparse.csr_array(sparse.vstack([parts["allx"], parts["tx"]], format="csr")[rows], dtype=np.float32)
    words.sort_indices()
    fields = np.concatenate([parts["ally"], parts["ty"]])[rows].argmax(axis=1).astype(np.int64)
    pairs = {(min(i, j), max(i, j)) for i, neighbours in parts["graph"].items() for j in neighbours if i != j}
    links = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    if links.size and not (links.min() >= 0 and links.max() < papers):
        raise FileError(f"ind.cora.graph links papers that are not among the {papers}")
    return Network(words, fields, links)
