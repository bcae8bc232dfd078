from __future__ import annotations

import io

import pytest

from regretless.cli import interrupted as module
from regretless.cli.interrupted import say_interrupted

from ..terminal import Terminal


@pytest.mark.parametrize(
    ("stream", "bar", "begin"),
    [(io.StringIO(), False, ""), (Terminal(), True, ""), (Terminal(), False, "\n")],
    ids=["a file", "a terminal after a bar", "a terminal that shows ^C"],
)
def test_the_message_has_a_line_of_its_own_and_none_is_empty(
    stream: io.StringIO, bar: bool, begin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(module, "end_bars", lambda: bar)
    say_interrupted(KeyboardInterrupt("after epoch 3"))
    say_interrupted(KeyboardInterrupt())
    assert stream.getvalue() == f"{begin}after epoch 3\n{begin}interrupted\n"
