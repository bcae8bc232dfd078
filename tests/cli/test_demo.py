from __future__ import annotations

from pathlib import Path

import pytest

from .files import CommandLine


@pytest.mark.slow
def test_the_demo_trains_five_methods_and_writes_a_report(cli: CommandLine, tmp_path: Path) -> None:
    summary = cli.ok("demo", "--out", tmp_path / "demo", "--json").json
    figures = summary["methods"]
    assert set(figures) == {"two-stage", "spo", "spo-cache", "nce-c", "map-dc"}
    assert figures["map-dc"]["regret"] < figures["two-stage"]["regret"]
    assert figures["map-dc"]["solves"] < figures["spo"]["solves"] / 10
    assert Path(summary["report"]).is_file()
    again = cli.ok("demo", "--out", tmp_path / "demo").out
    assert "map-dc" in again
    assert "report:" in again
