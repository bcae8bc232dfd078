"""Bounds on the optimum from the other side: Lagrangian with cached multipliers, or a problem's own."""

from regretless.cache.bounds.bound import Bound, LagrangianBound, OwnBound, make_bound
from regretless.cache.bounds.bound_program import ProgrammeBound
from regretless.cache.bounds.groups import Group, find_groups
from regretless.cache.bounds.multipliers import Multipliers

__all__ = [
    "Bound",
    "Group",
    "LagrangianBound",
    "Multipliers",
    "OwnBound",
    "ProgrammeBound",
    "find_groups",
    "make_bound",
]
