"""How much each form of a linear model counts in the two-stage baseline, by its held-out regret."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.search.verdict import FULL_WEIGHT


def weights_of(looked_up: Tensor, exact: Tensor, rows: Tensor) -> Tensor:
    """Weights ``(forms,)`` of an average of forms.

    The regret of a form is estimated by look-ups on all instances, plus the mean of what look-ups are wrong by on those
    that were solved. The weight falls from that of the best form to zero where the difference from it reaches two
    standard errors: what is within its uncertainty is partly chance, and an average of good models is often better than
    each of them. The two parts of the estimate count as independent.

    Args:
        looked_up: ``(forms, n)`` regrets by look-up.
        exact: ``(forms, m)`` regrets of the instances ``rows``; NaN where a solve failed, which leaves an instance out.
        rows: ``(m,)`` positions.
    """
    known = ~torch.isnan(exact).any(dim=0)
    wrong = exact[:, known] - looked_up[:, rows[known]]
    if wrong.shape[1] < 2:  # nothing is known about the look-ups
        wrong = torch.zeros(len(exact), 2, dtype=torch.float64)
    regret = looked_up.mean(dim=1) + wrong.mean(dim=1)
    best = int(regret.argmin())
    worse = regret - regret[best]
    error = (_squared_error(looked_up - looked_up[best]) + _squared_error(wrong - wrong[best])).sqrt()
    weights = torch.where(worse > 0, 1.0 - worse / (FULL_WEIGHT * error), 1.0).clamp(min=0.0)
    return weights / weights.sum()


def _squared_error(differences: Tensor) -> Tensor:
    """Of the mean of each row of ``(forms, m)``."""
    return differences.var(dim=1) / differences.shape[1]
