from __future__ import annotations

import io

import pytest

from regretless.runs import Spec
from regretless.runs.grid_progress import GridProgress

SLOW, FAST = Spec("knapsack-60", "two-stage"), Spec("knapsack-60", "spo")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_time_left_takes_each_kind_of_run_by_its_own_mean() -> None:
    outlook = GridProgress("x", [SLOW, SLOW, FAST, FAST], workers=2, stream=None)
    assert outlook.seconds_left() is None
    outlook.report(SLOW, {"status": "done", "seconds": 10.0})
    assert outlook.seconds_left() == pytest.approx((10.0 + 2 * 10.0) / 2)
    outlook.report(FAST, {"status": "done", "seconds": 1.0})
    assert outlook.seconds_left() == pytest.approx((10.0 + 1.0) / 2)


def test_runs_done_before_count_but_teach_nothing() -> None:
    outlook = GridProgress("x", [SLOW], skipped=3, stream=None)
    assert outlook.seconds_left() is None
    assert "3/4 runs" in outlook.line()


def test_a_failure_is_told_at_once_on_a_line_of_its_own() -> None:
    stream = Terminal()
    outlook = GridProgress("x", [SLOW, FAST], stream=stream)
    outlook.shown -= 60
    outlook.report(SLOW, {"status": "done", "seconds": 1.0})
    outlook.report(FAST, {"status": "failed", "seconds": 1.0, "error": "no licence"})
    assert stream.getvalue().splitlines()[-1] == "failed: knapsack-60, spo, seed 0: no licence"
    assert "1 failed" in outlook.line()


def test_away_from_a_terminal_a_line_comes_only_now_and_then() -> None:
    stream = io.StringIO()
    outlook = GridProgress("x", [SLOW], stream=stream)
    outlook.report(None, {})
    assert stream.getvalue() == ""
    outlook.shown -= 60
    outlook.report(None, {})
    assert stream.getvalue().endswith("\n")
    assert "\r" not in stream.getvalue()
