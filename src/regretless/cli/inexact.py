"""A warning where figures rest on solves that were not proven optimal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

# A figure's name, and what a count above zero means.
COUNTS = {
    "not_optimal": "labels are not proven optimal: the regret is only a bound",
    "cut_short": "decisions are not proven optimal: the regret may be larger than the prediction deserves",
    "failed": "instances have no decision and are left out of the regret",
    "training_labels_not_optimal": "training labels are not proven optimal",
    "training_failed": "solves failed in training",
}


def warn_of_inexact(figures: Mapping[str, Any]) -> None:
    """Say on standard error what the figures rest on, where that is not all exact."""
    for name, meaning in COUNTS.items():
        if count := figures.get(name):
            print(f"warning: {count} {meaning}", file=sys.stderr)
