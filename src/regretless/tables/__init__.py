"""Features, costs and constraints from CSV, Parquet and NPZ files and from data frames."""

from regretless.tables.costs import Costs, matched, read_costs
from regretless.tables.encoding import Encoding
from regretless.tables.features import Features, read_features

__all__ = ["Costs", "Encoding", "Features", "matched", "read_costs", "read_features"]
