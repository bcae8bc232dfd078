"""The 27 matching instances of Cora: the papers on each side, their links, and which pairs share a field.

The network was cut into 27 parts with METIS (pymetis, seed 0). Each part was trimmed or filled up to 100 papers (the
papers with the fewest links inside were dropped, the dropped papers with the most links inside were added) and cut into
two sides of 50 with many links across (best swaps from 20 random starts). The resulting ids are part of this package.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from regretless.errors import InputError
from regretless.milp import Floats
from regretless.problems.matching.cora import Network

SameField = Literal["paper", "position"]
Ids = NDArray[np.int64]
Bools = NDArray[np.bool_]


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
