"""Diverse bipartite matching on the Cora citation network."""

from regretless.problems.matching.cora import links, nodes, same_field
from regretless.problems.matching.drawing import draw_matching
from regretless.problems.matching.formulation import formulate, matching_family
from regretless.problems.matching.load import load_matching
from regretless.problems.matching.oracle import MatchingOracle
from regretless.problems.matching.pair_perceptron import PairPerceptron

__all__ = [
    "MatchingOracle", "PairPerceptron", "draw_matching", "formulate", "links", "load_matching", "matching_family",
    "nodes", "same_field",
]  # fmt: skip
