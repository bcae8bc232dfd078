"""Five percent of the solves are enough for a family, because members share what is feasible for them."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_with_few_solves_the_regret_is_at_most_a_tenth_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    module = importlib.import_module("family_cache")
    found = [module.regret_ratio(seed, 120, 10, "map-dc", epochs=15) for seed in range(3)]
    few, every = (sum(values) for values in zip(*found, strict=True))
    assert few <= 1.1 * every, found
