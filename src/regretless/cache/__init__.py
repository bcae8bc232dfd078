"""The solution cache: storage, the oracle around it, and the policies that decide when to solve."""

from regretless.cache.policies import Batch, Bernoulli, Falling, GapAbove, LargestGap, Policy
from regretless.cache.solution_cache import SolutionCache
from regretless.cache.statistics import CacheStatistics
from regretless.cache.store import SolutionStore

__all__ = [
    "Batch", "Bernoulli", "CacheStatistics", "Falling", "GapAbove", "LargestGap", "Policy", "SolutionCache",
    "SolutionStore",
]  # fmt: skip
