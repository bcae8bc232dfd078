"""The travelling salesman: data, exact oracle and loader."""

from regretless.problems.travelling_salesman.load import load_travelling_salesman
from regretless.problems.travelling_salesman.oracle import TourOracle

__all__ = ["TourOracle", "load_travelling_salesman"]
