"""The knapsack with several rows: data, exact oracle and loader."""

from regretless.problems.multi_knapsack.load import load_multi_knapsack
from regretless.problems.multi_knapsack.oracle import MultiKnapsackOracle

__all__ = ["MultiKnapsackOracle", "load_multi_knapsack"]
