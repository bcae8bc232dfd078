"""The best k of some items: data, exact oracle and loader."""

from regretless.problems.top_k.load import load_top_k
from regretless.problems.top_k.oracle import TopKOracle

__all__ = ["TopKOracle", "load_top_k"]
