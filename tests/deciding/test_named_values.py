from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from regretless.deciding.named_values import NamedValues, places_of


def test_values_are_found_by_name_and_equal_those_of_a_dict() -> None:
    values = NamedValues(places_of(["a", "b"]), np.array([1.0, 2.5]))
    assert values == {"a": 1.0, "b": 2.5}
    assert (list(values), len(values)) == (["a", "b"], 2)
    assert repr(values) == "{'a': 1.0, 'b': 2.5}"
    with pytest.raises(KeyError):
        values["c"]


def test_many_decisions_take_the_memory_of_their_numbers() -> None:
    places, numbers = places_of([f"x_{i}" for i in range(500)]), np.random.default_rng(0).normal(size=(400, 500))
    tracemalloc.start()
    kept = [NamedValues(places, row.copy()) for row in numbers]
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(kept) == 400
    assert size < 1.5 * numbers.nbytes  # dicts take about eight times as much
