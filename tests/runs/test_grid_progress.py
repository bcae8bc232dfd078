from __future__ import annotations

import io
import re

import pytest

from regretless.runs import Spec
from regretless.runs.grid_progress import GridProgress

from ..terminal import Terminal, wide_terminal

SLOW, FAST = Spec("knapsack-60", "two-stage"), Spec("knapsack-60", "spo")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return wide_terminal(monkeypatch)


def test_time_left_takes_each_kind_of_run_by_its_own_mean() -> None:
    progress = GridProgress("x", [SLOW, SLOW, FAST, FAST], workers=2, stream=None)
    assert progress.seconds_left() is None
    progress.report(SLOW, {"status": "done", "seconds": 10.0})
    assert progress.seconds_left() == pytest.approx((10.0 + 2 * 10.0) / 2)
    progress.report(FAST, {"status": "done", "seconds": 1.0})
    assert progress.seconds_left() == pytest.approx((10.0 + 1.0) / 2)


def test_runs_done_before_count_but_say_nothing_about_time() -> None:
    progress = GridProgress("x", [SLOW], skipped=3, stream=None)
    assert progress.seconds_left() is None
    assert (progress.done, progress.total, progress.note()) == (3, 4, "runs")


def test_the_nodes_at_work_are_shown() -> None:
    progress = GridProgress("x", [SLOW, FAST], stream=None)
    progress.report(None, {"nodes": 1})
    assert progress.note() == "runs on 1 node"
    progress.report(SLOW, {"status": "done", "seconds": 1.0, "nodes": 3})
    assert progress.note() == "runs on 3 nodes, 1 s left"


def test_a_failure_is_told_at_once_above_the_bar(terminal: Terminal) -> None:
    progress = GridProgress("x", [SLOW, FAST], stream=terminal)
    progress.report(SLOW, {"status": "done", "seconds": 1.0})
    progress.report(FAST, {"status": "failed", "seconds": 1.0, "error": "no licence"})
    progress.close()
    assert "failed: knapsack-60, spo, seed 0: no licence\n" in terminal.text
    assert re.search(r"x .* 2/2 runs, 1 failed, 0 s left", terminal.text)


def test_away_from_a_terminal_a_line_comes_every_half_minute() -> None:
    stream = io.StringIO()
    progress = GridProgress("x", [SLOW], stream=stream)
    progress.report(None, {})
    assert stream.getvalue() == ""
    progress.shown -= 60
    progress.report(None, {})
    progress.report(None, {})
    assert stream.getvalue() == "x: 0/1 runs\n"
    progress.report(SLOW, {"status": "failed", "seconds": 1.0, "error": "no licence"})
    assert stream.getvalue().splitlines()[1:] == ["failed: knapsack-60, two-stage, seed 0: no licence"]
