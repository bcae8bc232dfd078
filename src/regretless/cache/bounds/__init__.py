"""Lower bounds on the optimum: Lagrangian with cached multipliers, or a function of the problem itself."""

from regretless.cache.bounds.easy_set import Group, find_groups
from regretless.cache.bounds.lower_bounds import Bound, BoundKind, LagrangianBound, OwnBound, make_bound
from regretless.cache.bounds.milp_bound import MilpBound
from regretless.cache.bounds.multipliers import MultiplierSet

__all__ = [
    "Bound", "BoundKind", "Group", "LagrangianBound", "MilpBound", "MultiplierSet", "OwnBound", "find_groups",
    "make_bound",
]  # fmt: skip
