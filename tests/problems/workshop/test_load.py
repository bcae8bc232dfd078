from __future__ import annotations

import pytest
import torch

import regretless as rl
from regretless.errors import InputError

SMALL = {"orders": 2, "train": 6, "test": 3}


def test_the_workshop_is_a_model_solved_by_an_engine() -> None:
    loaded = rl.load("workshop", **SMALL, validation=2)
    assert (len(loaded.train), len(loaded.validation), len(loaded.test)) == (6, 2, 3)
    assert (loaded.problem.dimension, loaded.problem.sense, loaded.name) == (24, "min", "workshop")
    assert loaded.model(0)(loaded.train.features).shape == (6, 24)
    assert loaded.train.not_optimal == 0


def test_only_training_days_set_the_scale_of_the_features() -> None:
    loaded = rl.load("workshop", **SMALL)
    seen = loaded.train.features.reshape(-1, 4)
    assert torch.allclose(seen.mean(dim=0), torch.zeros(4, dtype=seen.dtype), atol=1e-6)


def test_orders_and_machines_must_be_counts() -> None:
    with pytest.raises(InputError, match="orders must be an integer, at least 1"):
        rl.load("workshop", orders=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"machines": 30}, "an order needs .* hours, and a day has 24: use fewer machines"),
        ({"orders": 30}, "a machine needs .* hours, and a day has 24: use fewer orders"),
    ],
)
def test_work_for_more_than_a_day_is_refused(options: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rl.load("workshop", **options)
