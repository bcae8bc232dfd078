"""Problems with data: the three of the paper, and a synthetic one that needs no download."""

from regretless.benchmark_problem import BenchmarkProblem
from regretless.problems.problem_table import load, names

__all__ = ["BenchmarkProblem", "load", "names"]
