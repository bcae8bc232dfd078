from __future__ import annotations

import pytest

from regretless.cli.inexact import warn_of_inexact


def test_every_count_above_zero_is_said_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    warn_of_inexact({"not_optimal": 3, "failed": 0, "cut_short": 2})
    said = capsys.readouterr().err
    assert said.splitlines() == [
        "warning: 3 labels are not proven optimal: the regret is only a bound",
        "warning: 2 decisions are not proven optimal: the regret may be larger than the prediction deserves",
    ]


def test_exact_figures_need_no_words(capsys: pytest.CaptureFixture[str]) -> None:
    warn_of_inexact({"not_optimal": 0, "failed": 0, "regret": 1.0})
    assert capsys.readouterr().err == ""
