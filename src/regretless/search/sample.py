"""A sample of large training data: the time of a search grows with the square of the number of instances."""

from __future__ import annotations

import warnings

import torch

from regretless.data import Dataset
from regretless.errors import RegretlessWarning
from regretless.number_checks import check_integer

# A search over so many instances takes minutes, one over ten times as many a day.
MOST = 5000


def sampled(data: Dataset, most: int | None, *, least: int, seed: int) -> Dataset:
    """At most ``most`` instances, drawn by the seed and in their order; a warning says that there are more.

    Args:
        data: training data.
        most: largest number of instances, or ``None`` for all.
        least: smallest number that ``most`` may be.
        seed: of the draw.
    """
    if most is None or len(data) <= check_integer("sample", most, least=least):
        return data
    warnings.warn(
        f"the search uses a sample of {most:,} of the {len(data):,} training instances: sample= (--set sample=NUMBER, "
        "or null for all) sets its size, and the time grows with its square",
        RegretlessWarning,
        stacklevel=3,
    )
    order = torch.randperm(len(data), generator=torch.Generator().manual_seed(seed))
    return data[order[:most].sort().values]
