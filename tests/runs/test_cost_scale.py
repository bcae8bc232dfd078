from __future__ import annotations

import warnings

import pytest
import torch

from regretless.errors import RegretlessWarning
from regretless.runs.cost_scale import warn_of_scale

KNOWN = torch.tensor([[50.0, -60.0], [70.0, 80.0]])


@pytest.mark.parametrize(("factor", "size"), [(0.1, "6"), (1000.0, "60,000"), (-10.0, "600")])
def test_other_units_are_reported(factor: float, size: str) -> None:
    said = f"of c.csv are on another scale than those of run: half of them are above {size} in size, .* above 60;"
    with pytest.warns(RegretlessWarning, match=said):
        warn_of_scale(factor * KNOWN, KNOWN, source="c.csv", run="run")


@pytest.mark.parametrize("factor", [1.0, 5.0, 0.2, 0.0])
def test_a_rise_of_prices_or_zeros_are_not(factor: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_scale(factor * KNOWN, KNOWN, source="c.csv", run="run")
