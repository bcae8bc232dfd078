from __future__ import annotations

import pytest

from regretless.training.adam_eps import EPS, LEAST_EPS, eps_for


@pytest.mark.parametrize("deviation", [0.01, 1.0, 1e9])
def test_it_is_that_of_torch_for_usual_costs(deviation: float) -> None:
    assert eps_for(deviation) == EPS == 1e-8


def test_it_falls_with_the_square_of_small_costs_down_to_what_single_precision_holds() -> None:
    assert eps_for(1e-5) == pytest.approx(1e-6 * EPS)
    assert eps_for(1e-30) == LEAST_EPS
