from __future__ import annotations

import pytest

from regretless.cli.settings import parse
from regretless.errors import InputError


def test_values_are_numbers_truths_nothing_or_text() -> None:
    words = ["tau=0.1", "select=predicted", "days=100", "fast=true", "capacity=null", "note=a=b"]
    expected = {"tau": 0.1, "select": "predicted", "days": 100, "fast": True, "capacity": None, "note": "a=b"}
    assert parse(words) == expected
    assert parse(None) == {}


@pytest.mark.parametrize("word", ["tau", "=3", "two words=1", "a-b=1", ""])
def test_other_words_are_refused(word: str) -> None:
    with pytest.raises(InputError, match="NAME=VALUE"):
        parse([word])
