"""Load matching-10, -25 and -50 on the Cora citation network."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.problems.matching.cora import Ids, SameField, citation_network, links, nodes
from regretless.problems.matching.cora import same_field as compare_fields
from regretless.problems.matching.formulation import matching_family
from regretless.problems.matching.oracle import MatchingBound, MatchingOracle
from regretless.problems.matching.pair_perceptron import pair_perceptron
from regretless.problems.settings import Solving

SHARES = {"matching-10": 0.10, "matching-25": 0.25, "matching-50": 0.50}
TRAIN, VALIDATION = 19, 3
SPLITS = ("paper", "random")


def load_matching(
    name: str,
    *,
    split: str = "paper",
    same_field: SameField = "paper",
    product: bool = False,
    seed: int = 0,
    **solving: Any,
) -> BenchmarkProblem:
    """Load diverse bipartite matching with its data and model; see ``regretless.problems.load``.

    Costs are the links (1) and missing links (0) of the 2500 pairs, with the sense ``"max"``: the regret is the number
    of links lost. The published figures are 100 times that. Features are the ids of the papers, ``(instances, 2, 50)``;
    the model holds their words.

    Args:
        name: ``matching-10``, ``matching-25`` or ``matching-50``: the least share, in percent, of pairs that share
            their field and of pairs that do not.
        split: ``paper`` takes 19, 3 and 5 instances in order, ``random`` after a shuffle with ``seed``.
        same_field: ``paper`` compares the fields of the papers; ``position`` repeats the error behind the published
            levels (see ``regretless.problems.matching.cora.same_field``).
        product: give the model the words that both papers share (not in the paper).
        seed: of a random split.
        solving: see ``Solving``.

    Raises:
        InputError: an unknown name, split or ``same_field``.
        FileError: a file of the network is missing or damaged.
    """
    if name not in SHARES:
        raise InputError(f"name must be one of {', '.join(SHARES)}, got {name!r}")
    how, order = Solving(**solving), _order(split, seed)
    network, ids, share = citation_network(), nodes(), SHARES[name]
    same = compare_fields(network, ids, same_field)
    oracle = partial(MatchingOracle, same, share, share, time_limit=how.time_limit)
    bound = MatchingBound(same, share, share)
    problem = how.problem(matching_family(same, share, share), "max", oracle, bound=bound, name=name)
    papers = torch.from_numpy(ids[order])  # a tensor of integers stays one: they are rows of the table of words
    parts = np.split(np.arange(len(order)), [TRAIN, TRAIN + VALIDATION])
    costs = links(network, ids)[order]
    train, validation, test = how.labelled(problem, papers, costs, parts, instance=order)
    model = pair_perceptron(torch.as_tensor(network.words.toarray()), product=product)
    return BenchmarkProblem(name, problem, train, test, validation, model, batch_size=1)


def _order(split: str, seed: int) -> Ids:
    order = np.arange(len(nodes()), dtype=np.int64)
    if split == "random":
        return np.random.default_rng(seed).permutation(order)
    if split != "paper":
        raise InputError(f"split must be one of {', '.join(SPLITS)}, got {split!r}")
    return order
