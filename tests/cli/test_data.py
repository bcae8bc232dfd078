from __future__ import annotations

from pathlib import Path

import pytest

from .files import CommandLine


def test_data_sets_are_listed_with_what_they_are_for(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGRETLESS_DATA", str(tmp_path))
    rows = {row["name"]: row for row in cli.ok("data", "list", "--json").json}
    assert "knapsack-60" in rows["semo"]["problems"]
    assert not any(row["present"] for row in rows.values())
    printed = cli.ok("data", "list").out
    assert "semo" in printed
    assert str(tmp_path) in printed.replace("\n", "")


def test_an_unknown_data_set_is_refused(cli: CommandLine) -> None:
    assert "magic" in cli("data", "fetch", "magic").error
