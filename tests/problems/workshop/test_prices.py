from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems.workshop.prices import FEATURE_NAMES, hourly_prices


def test_same_seed_gives_the_same_prices() -> None:
    (x, price), (again, same) = hourly_prices(5, seed=3), hourly_prices(5, seed=3)
    assert x.shape == (5, 24, len(FEATURE_NAMES))
    assert np.array_equal(x, again)
    assert np.array_equal(price, same)
    assert not np.array_equal(price, hourly_prices(5, seed=4)[1])


def test_load_matters_in_expensive_hours_only_and_wind_always() -> None:
    x, price = hourly_prices(400, noise=0.0)
    load, wind = x[..., 0], x[..., 1]
    for hours, load_matters in ((load < 0.3, False), (load > 1.3, True)):
        design = np.column_stack([load[hours], wind[hours], x[..., 2][hours], np.ones(hours.sum())])
        slopes = np.linalg.lstsq(design, price[hours], rcond=None)[0]
        assert (slopes[0] > 50) == load_matters
        assert -20 < slopes[1] < -8


@pytest.mark.parametrize(("options", "message"), [({"days": 0}, "days"), ({"days": 1, "noise": -1.0}, "noise")])
def test_bad_settings_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hourly_prices(**options)  # type: ignore[arg-type]
