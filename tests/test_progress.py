from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from regretless.progress import track


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal on which every look at the clock is half a second after the one before."""
    clock = itertools.count(0.0, 0.5)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    stream = Terminal()
    # pytest puts its own sys.stderr in place before every test: patch what the module sees
    monkeypatch.setattr("regretless.progress.sys", SimpleNamespace(stderr=stream))
    return stream


def lines(stream: io.StringIO) -> list[str]:
    return [line.replace("\x1b[K", "").strip() for line in stream.getvalue().replace("\r", "\n").split("\n") if line]


def test_items_come_through_in_order_and_the_bar_ends_its_line(terminal: Terminal) -> None:
    assert list(track("abcd", total=4, label="solving")) == list("abcd")
    assert lines(terminal) == [
        "solving [##################      ] 3/4, 0 s left",
        "solving [########################] 4/4, 0 s left",
    ]
    assert terminal.getvalue().endswith("\n")


def test_nothing_is_written_within_the_first_second(terminal: Terminal) -> None:
    assert list(track("ab", total=2, label="solving")) == ["a", "b"]
    assert terminal.getvalue() == ""


def test_nothing_is_written_where_nobody_looks(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    list(track(range(9), total=9, label="solving", show=False))
    assert terminal.getvalue() == ""
    plain = io.StringIO()
    monkeypatch.setattr("regretless.progress.sys", SimpleNamespace(stderr=plain))
    list(track(range(9), total=9, label="solving"))
    assert plain.getvalue() == ""
    list(track(range(9), total=9, label="solving", show=True))
    assert "9/9" in plain.getvalue()


@pytest.mark.parametrize("show", [True, False])
def test_no_items_write_nothing(terminal: Terminal, show: bool) -> None:
    assert list(track([], total=0, label="solving", show=show)) == []
    assert terminal.getvalue() == ""


def test_more_items_than_announced_do_not_break_the_bar(terminal: Terminal) -> None:
    assert list(track(range(6), total=0, label="solving")) == list(range(6))
    assert lines(terminal)[-1] == "solving [########################] 6/0, 0 s left"


@pytest.mark.parametrize("where", ["body", "items"])
def test_an_error_ends_the_line_and_goes_through(terminal: Terminal, where: str) -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise RuntimeError("items")

    def work() -> None:
        for k in track(items(), total=9, label="solving"):
            if where == "body" and k == 4:
                raise RuntimeError("body")

    with pytest.raises(RuntimeError, match=where):
        work()
    assert "/9" in terminal.getvalue()
    assert terminal.getvalue().endswith("\n")


def test_leaving_early_ends_the_line(terminal: Terminal) -> None:
    tracked = track(range(9), total=9, label="solving")
    for k in tracked:
        if k == 5:
            break
    tracked.close()  # type: ignore[attr-defined]
    assert terminal.getvalue().endswith("\n")


def test_nested_bars_keep_their_own_count_and_clear_each_others_line(terminal: Terminal) -> None:
    seen = [
        (a, b)
        for a in track(range(2), total=2, label="outer with a long name")
        for b in track(range(4), total=4, label="inner")
    ]
    assert seen == [(a, b) for a in range(2) for b in range(4)]
    written = terminal.getvalue()
    assert written.count("inner [########################] 4/4") == 2
    assert "outer with a long name [########################] 2/2" in written
    # each rewrite clears what a longer line left behind
    assert written.count("\r") == written.count("\x1b[K")
