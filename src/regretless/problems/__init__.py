"""Problems with data: the paper's three, an embedded synthetic one, and the field's with data from formulas."""

from regretless.benchmark_problem import BenchmarkProblem
from regretless.problems.problem_table import load, names

__all__ = ["BenchmarkProblem", "load", "names"]
