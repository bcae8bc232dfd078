"""``NAME=VALUE`` words of the command line, for settings that only some methods or problems have."""

from __future__ import annotations

import json
from typing import Any

from regretless.errors import InputError


def parse(words: list[str] | None) -> dict[str, Any]:
    """Read ``["tau=0.1", "select=predicted"]``; values are numbers, true, false, null or text.

    >>> parse(["tau=0.1", "select=predicted"])
    {'tau': 0.1, 'select': 'predicted'}
    """
    settings: dict[str, Any] = {}
    for word in words or []:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"settings are written NAME=VALUE, got {word!r}")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings
