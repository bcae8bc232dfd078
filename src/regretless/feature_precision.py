"""Features that the precision of a model rounds away, such as dates written as one large number."""

from __future__ import annotations

import warnings

import torch
from torch import Tensor

from regretless.errors import RegretlessWarning

LARGEST_ERROR = 1e-4  # of the range of a feature
ROUNDING = 1e-12  # of its size: what varies by less in double precision does so by rounding


def warn_of_rounding(features: Tensor) -> None:
    """Warn of features that vary little for their size, so that the default precision of torch rounds them coarsely.

    In single precision, numbers above 16 777 216 are even: of 97 days written as 20240101 and so on, 53 remain.

    Args:
        features: ``(n, ...)`` before they get the precision of a model.
    """
    if not features.numel() or features.dtype == torch.bool:
        return
    dtype = torch.get_default_dtype()
    flat = features.reshape(-1, features.shape[-1] if features.ndim > 1 else 1)
    low, high = (bound.to(torch.float64) for bound in flat.aminmax(dim=0))
    size, spread = torch.maximum(low.abs(), high.abs()), high - low
    # By the bound of the error first, from two passes over the data; few features, if any, are left to round.
    doubtful = (torch.finfo(dtype).eps * size > LARGEST_ERROR * spread) & (spread > ROUNDING * size)
    for column in doubtful.nonzero().flatten().tolist():
        values = flat[:, column].to(torch.float64)
        error = float((values - values.to(dtype).to(torch.float64)).abs().max() / spread[column])
        if error > LARGEST_ERROR:
            warnings.warn(
                f"feature {column} lies between {float(low[column]):.12g} and {float(high[column]):.12g}, which "
                f"{str(dtype).removeprefix('torch.')} rounds by up to {error:.2%} of that range: subtract a constant "
                f"first, for example {float(low[column]):.12g}, or give a date as several features",
                RegretlessWarning,
                stacklevel=3,
            )
