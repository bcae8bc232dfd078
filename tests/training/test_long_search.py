from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from regretless.errors import RegretlessWarning
from regretless.training import long_search
from regretless.training.long_search import LongSearch

from .stacks import Counter, data, run


def go(monkeypatch: pytest.MonkeyPatch, seconds: float, steps: int, done: int) -> None:
    now = [0.0]
    monkeypatch.setattr(long_search, "time", SimpleNamespace(monotonic=lambda: now[0]))
    estimate = LongSearch(steps)
    for _ in range(done):
        now[0] += seconds
        estimate.step()


def test_a_search_of_hours_is_announced_once_after_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(RegretlessWarning, match="the search takes about 2.8 h more") as said:
        go(monkeypatch, seconds=1.0, steps=10_000, done=200)
    assert len(said) == 1


def test_a_short_search_is_not_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        go(monkeypatch, seconds=1.0, steps=1000, done=1000)


def test_every_step_of_a_stack_that_is_left_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[LongSearch] = []
    original = LongSearch.__init__

    def kept(self: LongSearch, steps: int) -> None:
        made.append(self)
        original(self, steps)

    monkeypatch.setattr(LongSearch, "__init__", kept)
    for stop_after in (1, 99):
        run(*data(), observer=Counter(stop_after), checkpoint=tmp_path / "search.safetensors")
    assert [(one.steps, one.done) for one in made] == [(12, 4), (8, 8)]  # of 3 epochs, one and then the others
