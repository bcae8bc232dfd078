from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from regretless import progress
from regretless.progress import Bar, Lines, PlainLine, end_bars, track, write_lines

from .terminal import Terminal, wide_terminal


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = wide_terminal(monkeypatch)
    # pytest replaces sys.stderr before every test: patch what the module sees
    monkeypatch.setattr("regretless.progress.sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(PlainLine, "wanted", True)  # a command with --json in this process turns lines off
    return stream


def test_items_come_through_in_order_and_the_bar_counts_them(terminal: Terminal) -> None:
    assert list(track("abcd", total=4, label="solving")) == list("abcd")
    assert re.search(r"solving .* 4/4 0 s left", terminal.text)
    assert terminal.text.endswith("\n")


def test_nothing_is_written_within_the_first_second(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.progress.DELAY", 1.0)
    assert list(track("ab", total=2, label="solving")) == ["a", "b"]
    assert terminal.getvalue() == ""


def test_a_bar_is_forced_on_or_off(terminal: Terminal, plain: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    list(track(range(9), total=9, label="solving", show=True))
    assert "9/9" in plain.getvalue()
    monkeypatch.setattr("regretless.progress.sys", SimpleNamespace(stderr=terminal))
    list(track(range(9), total=9, label="solving", show=False))
    assert terminal.getvalue() == ""


@pytest.fixture
def plain(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Standard error in a file."""
    stream = io.StringIO()
    monkeypatch.setattr("regretless.progress.sys", SimpleNamespace(stderr=stream))
    return stream


def slowly(n: int, monkeypatch: pytest.MonkeyPatch, **how: Any) -> None:
    """A loop whose steps take ten seconds."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("regretless.progress.time", SimpleNamespace(monotonic=lambda: clock.now))
    for _ in track(range(n), total=n, label="solving", **how):
        clock.now += 10.0


def test_away_from_a_terminal_a_plain_line_comes_every_half_minute(
    plain: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    slowly(8, monkeypatch)
    assert plain.getvalue() == "solving: 3/8, 50 s left\nsolving: 6/8, 20 s left\n"


def test_away_from_a_terminal_short_loops_write_nothing(plain: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(9):
        slowly(2, monkeypatch)
    assert plain.getvalue() == ""


def test_plain_lines_can_be_turned_off(plain: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    slowly(8, monkeypatch, show=False)
    write_lines(False)  # the fixture restores it
    slowly(8, monkeypatch)
    assert plain.getvalue() == ""


def test_without_standard_error_there_is_no_progress_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.progress.sys", SimpleNamespace(stderr=None))
    assert list(track(range(3), total=3, label="solving")) == [0, 1, 2]


def test_without_rich_there_is_no_bar_and_no_error(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    assert list(track(range(3), total=3, label="solving")) == [0, 1, 2]
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("show", [True, False])
def test_no_items_write_nothing(terminal: Terminal, show: bool) -> None:
    assert list(track([], total=0, label="solving", show=show)) == []
    assert terminal.getvalue() == ""


def test_more_items_than_announced_do_not_break_the_bar(terminal: Terminal) -> None:
    assert list(track(range(6), total=0, label="solving")) == list(range(6))
    assert "6/6 0 s left" in terminal.text


@pytest.mark.parametrize("where", ["body", "items"])
def test_an_error_closes_the_bar_and_is_raised(terminal: Terminal, where: str) -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise RuntimeError("items")

    def work() -> None:
        for k in track(items(), total=9, label="solving"):
            if where == "body" and k == 4:
                raise RuntimeError("body")

    with pytest.raises(RuntimeError, match=where):
        work()
    assert "/9" in terminal.text
    assert Bar._display is None


def test_leaving_a_loop_early_closes_the_bar(terminal: Terminal) -> None:
    tracked = track(range(9), total=9, label="solving")
    for k in tracked:
        if k == 5:
            break
    tracked.close()  # type: ignore[attr-defined]
    assert "5/9" in terminal.text
    assert Bar._display is None


def test_nested_loops_share_one_display_with_one_line_each(terminal: Terminal) -> None:
    lines = []
    for _ in track(range(3), total=3, label="outer"):
        for _ in track(range(4), total=4, label="inner"):
            lines.append([task.description for task in getattr(Bar._display, "tasks", [])])  # noqa: PERF401
    # A bar appears after the first step of its loop; the line of an inner loop goes when the loop ends.
    assert lines == [[], *[["inner"]] * 3, *([["outer"], *[["outer", "inner"]] * 3] * 2)]
    assert re.search(r"outer .* 3/3", terminal.text)


def test_what_is_written_after_an_error_comes_after_the_bars(terminal: Terminal) -> None:
    outer, inner = (track(range(3), total=3, label=label) for label in ("outer", "inner"))
    for loop in (outer, inner):
        next(loop)
        next(loop)
    end_bars()
    print("error: wrong", file=terminal)
    for loop in (outer, inner):
        assert next(loop) == 2, "the loops may go on"
        loop.close()  # type: ignore[attr-defined]
    end_bars()
    assert terminal.text.endswith("error: wrong\n")
    assert Bar._display is None


def test_whether_a_bar_ended_before_its_loop_is_known_after_it_closed(terminal: Terminal) -> None:
    list(track(range(3), total=3, label="solving"))
    assert not end_bars()
    loop = track(range(3), total=3, label="solving")
    next(loop)
    next(loop)
    loop.close()  # type: ignore[attr-defined]
    assert end_bars()
    assert not end_bars()


@pytest.fixture
def waiting(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A loop whose first step takes long."""
    monkeypatch.setattr("regretless.progress.FIRST", 0.05)
    loop = track(range(3), total=3, label="solving")
    next(loop)
    return loop


def test_a_bar_appears_while_the_first_step_takes_long(terminal: Terminal, waiting: Iterator[int]) -> None:
    deadline = time.monotonic() + 20
    while "0/3 0 s so far" not in terminal.text and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "0/3 0 s so far" in terminal.text
    assert list(waiting) == [1, 2]
    assert "3/3 0 s left" in terminal.text
    assert terminal.text.count("solving", terminal.text.rindex("\r")) == 1, "it is still one bar"


@pytest.mark.parametrize("ended", [True, False], ids=["an error", "the end of the loop"])
def test_no_bar_appears_after(ended: bool, terminal: Terminal, waiting: Iterator[int]) -> None:
    if ended:
        assert not end_bars(), "none was shown"
    else:
        waiting.close()  # type: ignore[attr-defined]
    time.sleep(0.15)
    assert terminal.getvalue() == ""
    assert Bar._display is None


def test_a_line_of_text_stands_above_the_bar(terminal: Terminal) -> None:
    bar = Bar("solving", 3, terminal)
    bar.say("before the bar")
    bar.update(1, "soon done")
    bar.say("failed: [x] " + "long " * 30)
    bar.update(2, "soon done")
    bar.close()
    assert terminal.text.startswith("before the bar\n")
    assert "failed: [x] " + " ".join(["long"] * 30) in terminal.text


def test_lines_are_due_first_last_and_once_per_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    lines, due = Lines(100), []
    for done in range(1, 101):
        now[0] += 0.1
        due += [done] if lines.due(done) else []
    assert due[0] == 1
    assert due[-1] == 100
    assert 9 <= len(due) <= 12
    assert (lines.left(50), lines.left(100)) == (" (10 s left)", "")
