"""One constant per variable, added to the costs of a model that all variables share."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn


@final
class Intercepts(nn.Module):
    """Add one trained constant per variable to costs ``(batch, d)``.

    A shared model sees of a variable only its features. What distinguishes variables for good and is in no column, such
    as the size of an item, goes into its constant.

    >>> Intercepts(2)(torch.tensor([[1.0, 2.0]])).tolist()
    [[1.0, 2.0]]
    """

    def __init__(self, variables: int) -> None:
        super().__init__()
        self.intercepts = nn.Parameter(torch.zeros(variables))

    def forward(self, costs: Tensor) -> Tensor:
        """Add the constants."""
        return costs + self.intercepts
