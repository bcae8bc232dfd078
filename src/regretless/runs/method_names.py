"""How the method of a run and its baseline are called: a two-stage run by gradient steps is not its own baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BASELINE = "two-stage"


def method_and_baseline(method: str, settings: Mapping[str, Any]) -> tuple[str, str]:
    """Names of a method and of the two-stage baseline beside it.

    >>> method_and_baseline("map-dc", {}), method_and_baseline("two-stage", {"fit": "best"})
    (('map-dc', 'two-stage'), ('two-stage', 'two-stage'))
    >>> method_and_baseline("two-stage", {})
    ('two-stage (gradient)', 'two-stage (best fit)')
    """
    if method != BASELINE or settings.get("fit") == "best":
        return method, BASELINE
    return f"{method} (gradient)", f"{BASELINE} (best fit)"
