"""The solution cache: storage, the oracle around it, and the policies that say when to solve."""

from regretless.cache.policies import Bernoulli, ByGap, Falling, GapAbove, LargestGap, Policy
from regretless.cache.solution_cache import SolutionCache
from regretless.cache.statistics import CacheStatistics
from regretless.cache.store import SolutionStore

__all__ = [
    "Bernoulli", "ByGap", "CacheStatistics", "Falling", "GapAbove", "LargestGap", "Policy", "SolutionCache",
    "SolutionStore",
]  # fmt: skip
