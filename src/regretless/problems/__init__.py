"""Problems with data: the paper's three, and an embedded synthetic one."""

from regretless.benchmark_problem import BenchmarkProblem
from regretless.problems.problem_table import load, names

__all__ = ["BenchmarkProblem", "load", "names"]
