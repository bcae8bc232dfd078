from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import forked

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")


def soak(folder: Path, instances: int, capacity: int, seconds: float) -> dict[str, Any]:
    return measured("soak", folder, instances, capacity, seconds=seconds)


def measured(module: str, folder: Path, *words: object, seconds: float) -> dict[str, Any]:
    """What a process prints that does one thing for long."""
    said = forked.run_module(f"tests.robustness.{module}", *words, output=folder / "said", seconds=seconds)
    return json.loads(said.splitlines()[-1])


@pytest.mark.slow
def test_a_full_cache_does_not_grow(tmp_path: Path) -> None:
    found = soak(tmp_path, 8_000, 550, 300)
    assert found["cache_size"] <= 600
    assert found["evicted"] > 0, "the cache must be full for the test to mean something"
    assert found["growth"] < 0.05, found


@pytest.mark.slow
def test_a_million_instances_leave_memory_where_it_was(tmp_path: Path) -> None:
    found = soak(tmp_path, 1_000_000, 10_000, 3000)
    print(json.dumps(found))
    assert found["instances"] >= 1_000_000
    assert found["cache_size"] == 10_000
    assert found["evicted"] > 0
    assert found["full_at"] < 0.5, "it must be full in the half that is measured"
    assert found["growth"] < 0.02, found


@pytest.mark.parametrize(
    ("what", "count"),
    [
        ("solves", 1_000),
        pytest.param("solves", 100_000, marks=pytest.mark.slow),
        pytest.param("fits", 200, marks=pytest.mark.slow),
    ],
)
def test_solves_and_fits_leave_no_memory_threads_or_open_files_behind(what: str, count: int, tmp_path: Path) -> None:
    found = measured("leaks", tmp_path, what, count, seconds=3000)
    print(json.dumps(found))
    assert found["growth"] < 0.03, found
    for name in ("threads", "files"):
        before, after = found[name]
        assert after <= before, found
