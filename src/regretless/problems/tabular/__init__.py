"""Features and costs from CSV, Parquet and NPZ files."""

from regretless.problems.tabular.costs import Costs, read_costs
from regretless.problems.tabular.features import Features, read_features
from regretless.problems.tabular.match import matched

__all__ = ["Costs", "Features", "matched", "read_costs", "read_features"]
