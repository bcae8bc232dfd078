"""Ranking losses over the cache: order the cached solutions by predicted cost as the true costs order them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal

import torch
from torch import Tensor

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses.autograd_loss import AutogradLoss
from regretless.losses.base import Reduction
from regretless.losses.loss_checks import needs_cache
from regretless.losses.members import members
from regretless.number_checks import check_number


class _Ranking(AutogradLoss):
    """What the ranking losses share: the scores of all members of S, predicted and true, for each instance."""

    def __init__(self, cache: SolutionCache, *, reduction: Reduction = "mean") -> None:
        super().__init__(needs_cache("a ranking loss", cache), reduction=reduction)
        self.cache = cache

    def per_instance(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Losses ``(batch,)`` over the members of S that are feasible per instance."""
        self.grow(self.cache, predicted, predicted, instance)
        columns, serves = members(self.cache, predicted, instance)
        return self.rank(predicted @ columns, true.detach() @ columns, serves)

    @abstractmethod
    def rank(self, predicted: Tensor, true: Tensor, serves: Tensor | None) -> Tensor:
        """Losses ``(batch,)`` of predicted and true scores ``(batch, |S|)``."""


class Pointwise(_Ranking):
    r"""Pointwise ranking: match the score of every solution (Mandi et al. 2022).

    .. math:: \frac{1}{|S|} \sum_{s \in S} \big( f(s, \hat c) - f(s, c) \big)^2

    Args:
        cache: the oracle that holds S.
        reduction: over the batch.
    """

    def rank(self, predicted: Tensor, true: Tensor, serves: Tensor | None) -> Tensor:
        """Mean squared difference of the scores."""
        return _mean((predicted - true).square(), serves)


class Pairwise(_Ranking):
    r"""Pairwise ranking: the best solution must lead every other by a margin (Mandi et al. 2022).

    .. math:: \frac{1}{|S|} \sum_{s \in S:\, f(s, c) > f(s^*, c)} \max(0, \nu + f(s^*, \hat c) - f(s, \hat c))

    where :math:`s^*` is the best member of S at the true costs. Pairs that are in order by the margin have no gradient.

    Args:
        cache: the oracle that holds S.
        margin: :math:`\nu`, on the scale of the objective.
        reduction: over the batch.
    """

    def __init__(self, cache: SolutionCache, *, margin: float = 0.0, reduction: Reduction = "mean") -> None:
        super().__init__(cache, reduction=reduction)
        self.margin = check_number("margin", margin, least=0)

    def rank(self, predicted: Tensor, true: Tensor, serves: Tensor | None) -> Tensor:
        """Mean hinge of the pairs with the best member."""
        best = _best(true, serves)
        lead = predicted.gather(1, best) - predicted
        worse = true > true.gather(1, best)  # a solution as good as the best needs no margin
        return _mean((self.margin + lead).clamp(min=0.0) * worse, serves)


class PairwiseDifference(_Ranking):
    r"""Pairwise difference: match the lead of the best solution over every other (Mandi et al. 2022).

    .. math::
        \frac{1}{|S|} \sum_{s \in S}
        \Big( \big(f(s^*, \hat c) - f(s, \hat c)\big) - \big(f(s^*, c) - f(s, c)\big) \Big)^2

    where :math:`s^*` is the best member of S at the true costs.

    Args:
        cache: the oracle that holds S.
        reduction: over the batch.
    """

    def rank(self, predicted: Tensor, true: Tensor, serves: Tensor | None) -> Tensor:
        """Mean squared difference of the leads."""
        best = _best(true, serves)
        lead = predicted.gather(1, best) - predicted
        return _mean((lead - (true.gather(1, best) - true)).square(), serves)


class Listwise(_Ranking):
    r"""Listwise ranking: cross-entropy of two soft-max distributions over S (Mandi et al. 2022).

    .. math:: -\sum_{s \in S} p_T(s \mid c) \log p_T(s \mid \hat c), \qquad p_T(s \mid c) \propto \exp(-f(s, c) / T)

    By default the temperature is a share of the standard deviation of the true scores over S, so that it does not
    depend on the scale of the costs: where costs are large, a fixed one makes the target one-hot, and the loss ranks
    only the first.

    Args:
        cache: the oracle that holds S.
        temperature: share of the deviation of the true scores (``scale="relative"``), or T itself (``"fixed"``).
        scale: ``"relative"`` or ``"fixed"``.
        reduction: over the batch.
    """

    def __init__(
        self,
        cache: SolutionCache,
        *,
        temperature: float = 0.1,
        scale: Literal["relative", "fixed"] = "relative",
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(cache, reduction=reduction)
        if scale not in ("relative", "fixed"):
            raise InputError(f"scale must be 'relative' or 'fixed', got {scale!r}")
        self.temperature, self.scale = check_number("temperature", temperature), scale

    def rank(self, predicted: Tensor, true: Tensor, serves: Tensor | None) -> Tensor:
        """Cross-entropy of the predicted distribution against the true one."""
        centered = true - _mean(true, serves)[:, None]
        deviation = _mean(centered.square(), serves).sqrt()[:, None]
        # True scores that are equal up to rounding have no deviation; their target is uniform.
        noise = 8 * torch.finfo(true.dtype).eps * true.abs().amax(dim=1, keepdim=True)
        relative = (deviation > noise) & (self.scale == "relative")
        t = self.temperature * torch.where(relative, deviation, torch.ones_like(deviation))
        if serves is not None:
            predicted, true = (scores.masked_fill(~serves, torch.inf) for scores in (predicted, true))
        target = torch.softmax(-true / t, dim=1)
        log_p = torch.log_softmax(-predicted / t, dim=1)
        if serves is not None:
            log_p = log_p.masked_fill(~serves, 0.0)  # zero times minus infinity
        return -(target * log_p).sum(dim=1)


def _mean(values: Tensor, serves: Tensor | None) -> Tensor:
    if serves is None:
        return values.mean(dim=1)
    return (values * serves).sum(dim=1) / serves.sum(dim=1)


def _best(true: Tensor, serves: Tensor | None) -> Tensor:
    scores = true if serves is None else true.masked_fill(~serves, torch.inf)
    return scores.argmin(dim=1, keepdim=True)
