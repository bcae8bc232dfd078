"""The knapsack: formulation, exact oracle, bound, data and drawing."""

from regretless.problems.knapsack.load import load_knapsack, load_synthetic_knapsack
from regretless.problems.knapsack.oracle import knapsack_problem

__all__ = ["knapsack_problem", "load_knapsack", "load_synthetic_knapsack"]
