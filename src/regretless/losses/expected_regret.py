"""Expected regret over the cache: the paper's distribution, where its partition function is a finite sum."""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
from torch import Tensor

from regretless.arrays import dot
from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses.base import Reduction
from regretless.losses.closed_form import ClosedFormLoss
from regretless.losses.loss_checks import needs_cache
from regretless.losses.members import members
from regretless.number_checks import check_integer, check_number

Scale = Literal["relative", "fixed"]


class ExpectedRegret(ClosedFormLoss):
    r"""Expected true cost of a solution drawn from S by its predicted cost, less the optimum (method ``soft``).

    The paper's distribution (Eq. 3) restricted to the cache has a partition function that is a finite sum:

    .. math:: p(s \mid \hat c) = \frac{\exp(-f(s, \hat c) / T)}{\sum_{s' \in S} \exp(-f(s', \hat c) / T)},
              \qquad \sum_{s \in S} p(s \mid \hat c)\, f(s, c) - f(v^*, c)

    The expected regret is therefore exact and differentiable: three matrix products and a soft-max, no solver except
    for the growth of S. Gradient: :math:`-\frac{1}{T} \sum_s p_s (f(s, c) - \mathbb{E} f(\cdot, c))\, s`. As T falls,
    the loss approaches the regret of the best member of S.

    Args:
        cache: the oracle that holds S; each step flips its coins and grows it.
        temperature: T itself (``scale="fixed"``), or a multiple of the standard deviation of the predicted objective
            values over S (``scale="relative"``), which makes it independent of the scale of the costs.
        scale: ``"relative"`` or ``"fixed"``.
        final_temperature: where given, the temperature falls (or rises) to it geometrically over ``anneal_steps``.
        anneal_steps: training steps until then; needed with ``final_temperature``.
        reduction: over the batch.
    """

    def __init__(
        self,
        cache: SolutionCache,
        *,
        temperature: float = 0.1,
        scale: Scale = "relative",
        final_temperature: float | None = None,
        anneal_steps: int | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(needs_cache("ExpectedRegret", cache), reduction=reduction)
        if scale not in ("relative", "fixed"):
            raise InputError(f"scale must be 'relative' or 'fixed', got {scale!r}")
        if (final_temperature is None) != (anneal_steps is None):
            got = f"got {final_temperature} and {anneal_steps}"
            raise InputError(f"annealing needs both final_temperature and anneal_steps, {got}")
        if final_temperature is not None:
            check_number("final_temperature", final_temperature)
            check_integer("anneal_steps", anneal_steps, least=1)
        self.cache, self.scale, self.temperature = cache, scale, check_number("temperature", temperature)
        self.final_temperature, self.anneal_steps = final_temperature, anneal_steps
        self._steps = 0
        self._last: Tensor | None = None  # probabilities ``(batch, |S|)`` of the last step
        self._before = math.nan  # perplexity of the last step before a resumed run

    def current_temperature(self) -> float:
        """Temperature of the next step."""
        if self.final_temperature is None or self.anneal_steps is None:
            return self.temperature
        share = min(self._steps / self.anneal_steps, 1.0)
        return float(self.temperature * (self.final_temperature / self.temperature) ** share)

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Expected regrets over S, and their gradients."""
        temperature = self.current_temperature()
        self._steps += int(self.training)
        self.grow(self.cache, predicted, predicted, instance)
        columns, serves = members(self.cache, predicted, instance)
        scores = predicted @ columns
        unit = temperature * self._unit(scores, None if serves is None else serves.to(scores.dtype))
        if serves is not None:
            scores = scores.masked_fill(~serves, torch.inf)
        sharpness = unit.reciprocal().neg_()[:, None]
        p = torch.softmax(scores.mul_(sharpness), dim=1)
        values = (true @ columns).mul_(p)
        expected = values.sum(1)
        self._last = p
        values -= p * expected[:, None]
        slope = (values @ columns.T) * sharpness
        return expected - dot(true, solution), slope

    @property
    def perplexity(self) -> float:
        """Effective number of solutions in the last step: ``exp`` of the mean entropy of p."""
        if self._last is None:
            return self._before
        return math.exp(float(torch.special.entr(self._last).sum(dim=1).mean()))

    def diagnostics(self) -> dict[str, float]:
        """Perplexity and temperature, for the history."""
        return {"perplexity": self.perplexity, "temperature": self.current_temperature()}

    def running_state(self) -> dict[str, Any]:
        """Training steps taken, which set the temperature, and the perplexity of the last one."""
        last = self.perplexity
        return {"steps": self._steps} | ({} if math.isnan(last) else {"perplexity": last})

    def load_running_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved running state."""
        self._steps = int(state["steps"])
        self._last, self._before = None, float(state.get("perplexity", math.nan))

    def _unit(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        """Unit of the temperature ``(batch,)``: 1, or the deviation of the scores over S per instance.

        Args:
            scores: ``(batch, |S|)``; for a deviation their mean is subtracted from them in place.
            mask: ``(batch, |S|)`` of the feasible solutions, or ``None`` for all.
        """
        if self.scale == "fixed":
            return scores.new_ones(scores.shape[0])
        count = scores.shape[1] if mask is None else mask.sum(1)
        mean = (scores if mask is None else scores * mask).sum(1) / count
        scores -= mean[:, None]
        deviation: Tensor = torch.linalg.vector_norm(scores if mask is None else scores * mask, dim=1) / count**0.5
        # Where all scores are equal up to rounding (one solution, zero or constant predictions), their deviation is
        # noise and would make the gradient explode. Any positive unit gives the uniform distribution.
        noise = 8 * torch.finfo(mean.dtype).eps * mean.abs()
        return deviation + (deviation <= noise)
