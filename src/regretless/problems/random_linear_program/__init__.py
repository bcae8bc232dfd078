"""A random linear program: data, formulation and loader."""

from regretless.problems.random_linear_program.load import load_random_linear_program

__all__ = ["load_random_linear_program"]
