"""Whether the true costs of new rows are on the scale of those of a run: a change of units shows here."""

from __future__ import annotations

import warnings

from torch import Tensor

from regretless.errors import RegretlessWarning
from regretless.number_text import number_text

# Costs that rise or fall by less than this are a matter of the market; units differ by ten or more.
FACTOR = 8.0


def warn_of_scale(costs: Tensor, known: Tensor, *, source: str, run: str) -> None:
    """Warn where the costs of new rows are much larger or smaller than those of a run.

    Args:
        costs, known: ``(n, d)`` costs of the new rows, and of the rows of the run.
        source, run: names of the file and of the run, for the message.
    """
    new, old = float(costs.abs().median()), float(known.abs().median())
    if min(new, old) > 0 and max(new, old) >= FACTOR * min(new, old):
        warnings.warn(
            f"the costs of {source} are on another scale than those of {run}: half of them are above "
            f"{number_text(new)} in size, and of those of the run above {number_text(old)}; are the units the same?",
            RegretlessWarning,
            stacklevel=3,
        )
