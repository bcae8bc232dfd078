"""Features and costs from CSV, Parquet and NPZ files."""

from regretless.tables.costs import Costs, matched, read_costs
from regretless.tables.features import Features, read_features

__all__ = ["Costs", "Features", "matched", "read_costs", "read_features"]
