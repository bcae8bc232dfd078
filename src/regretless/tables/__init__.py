"""Features and costs from CSV, Parquet and NPZ files."""

from regretless.tables.costs import Costs, read_costs
from regretless.tables.features import Features, read_features
from regretless.tables.match import matched

__all__ = ["Costs", "Features", "matched", "read_costs", "read_features"]
