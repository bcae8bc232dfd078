"""Problems with data: the three of the paper, a synthetic one, and those of the field with data from formulas."""

from regretless.benchmark_problem import BenchmarkProblem
from regretless.problems.problem_table import load, names

__all__ = ["BenchmarkProblem", "load", "names"]
