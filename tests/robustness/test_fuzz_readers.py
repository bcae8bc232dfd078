from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import forked


def fuzz(folder: Path, count: int, seed: int, *readers: str, seconds: float = 600.0) -> dict[str, Any]:
    """Spoiled inputs in a process of its own, which a crash of a reader ends."""
    output = folder.with_suffix(".txt")
    said = forked.run_module("tests.robustness.fuzz", folder, count, seed, *readers, output=output, seconds=seconds)
    return json.loads(said.splitlines()[-1])


def check(found: dict[str, Any]) -> None:
    bad = {name: row["bad"][:3] for name, row in found["readers"].items() if row["bad"]}
    assert bad == {}, "readers must end in the library's own errors, within five seconds"
    assert found["outside"] == [], "no reader may write outside of its folder or start anything"
    assert all(row["refused"] for name, row in found["readers"].items() if name != "report"), "some must be spoiled"
    assert all(row["read"] for row in found["readers"].values() if sum((row["read"], row["refused"])) > 400)


def test_spoiled_inputs_end_in_the_librarys_own_errors(tmp_path: Path) -> None:
    check(fuzz(tmp_path / "fuzz", 228, seed=0))


@pytest.mark.slow
def test_twenty_thousand_spoiled_inputs_end_in_the_librarys_own_errors(tmp_path: Path) -> None:
    found = fuzz(tmp_path / "fuzz", 22_800, seed=1, seconds=3000)
    check(found)
    total = sum(row["read"] + row["refused"] for row in found["readers"].values())
    assert total >= 20_000
    print(json.dumps(found["readers"]))
