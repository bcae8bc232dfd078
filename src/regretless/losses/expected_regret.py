"""Expected regret over the cache: the paper's distribution, made exact where its partition function is a plain sum."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses.base import Reduction, dot
from regretless.losses.members import members
from regretless.losses.piecewise_linear import PiecewiseLinear
from regretless.tensors import Array, as_tensor, epsilon, exp_, like, row_minima

Scale = Literal["relative", "fixed"]


class ExpectedRegret(PiecewiseLinear):
    r"""Expected true cost of a solution drawn from S by its predicted cost, less the optimum (method ``soft``).

    The paper's distribution (Eq. 4) restricted to the cache has a partition function that is a plain sum:

    .. math:: p(s \mid \hat c) = \frac{\exp(-f(s, \hat c) / T)}{\sum_{s' \in S} \exp(-f(s', \hat c) / T)},
              \qquad \sum_{s \in S} p(s \mid \hat c)\, f(s, c) - f(v^*, c)

    so the expected regret is exact and differentiable: one matrix product and a soft-max, no solver but for the growth
    of S. Gradient: :math:`-\frac{1}{T} \sum_s p_s (f(s, c) - \mathbb{E} f(\cdot, c))\, s`. As T falls it becomes the
    regret of the best member of S.

    Args:
        cache: the oracle that holds S; each step flips its coins and grows it.
        temperature: T itself (``scale="fixed"``), or as a share of the standard deviation of the predicted costs over S
            (``scale="relative"``), so that it does not depend on the scale of the costs.
        scale: ``"relative"`` or ``"fixed"``.
        final_temperature: where given, the temperature falls (or rises) to it geometrically over ``anneal_steps``.
        anneal_steps: training steps of that fall; needed with ``final_temperature``.
        warm_up_steps: training steps of MAP at ``c_hat - c`` that come first. Far from any good model p is nearly
            constant and the gradient says little; MAP's leads there, and to the same place from every first weights.
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
        warm_up_steps: int = 0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(cache, reduction=reduction)
        if not isinstance(cache, SolutionCache):
            raise InputError(f"ExpectedRegret needs a SolutionCache, got {type(cache).__name__}")
        if not temperature > 0 or not math.isfinite(temperature):
            raise InputError(f"temperature must be positive, got {temperature}")
        if scale not in ("relative", "fixed"):
            raise InputError(f"scale must be 'relative' or 'fixed', got {scale!r}")
        if (final_temperature is None) != (anneal_steps is None) or (
            final_temperature is not None
            and anneal_steps is not None
            and not (0 < final_temperature < math.inf and anneal_steps >= 1)
        ):
            got = f"got {final_temperature} and {anneal_steps}"
            raise InputError(f"annealing needs both final_temperature > 0 and anneal_steps >= 1, {got}")
        if warm_up_steps < 0:
            raise InputError(f"warm_up_steps must be at least 0, got {warm_up_steps}")
        self.cache, self.scale, self.temperature = cache, scale, float(temperature)
        self.warm_up_steps = warm_up_steps
        self.final_temperature, self.anneal_steps = final_temperature, anneal_steps
        self._last: tuple[Tensor, Tensor] | None = None
        self.steps: Tensor
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def current_temperature(self) -> float:
        """Temperature of the next step."""
        if self.final_temperature is None or self.anneal_steps is None:
            return self.temperature
        share = min(max(int(self.steps) - self.warm_up_steps, 0) / self.anneal_steps, 1.0)
        return float(self.temperature * (self.final_temperature / self.temperature) ** share)

    def piece(self, predicted: Array, true: Array, solution: Array, instance: Tensor | None) -> tuple[Array, Array]:
        """Expected regrets ``(batch,)`` over S, and their gradients."""
        step, t = int(self.steps), self.current_temperature()
        if self.training and (self.warm_up_steps or self.final_temperature is not None):
            self.steps += 1
            if 0 < step == self.warm_up_steps:
                self._became_another = True
        if self.training and step < self.warm_up_steps:
            self._last = None
            margin = predicted - true
            (chosen,) = self.query([margin], predicted, solution, instance)
            return dot(margin, solution - chosen), solution - chosen
        self.grow(self.cache, predicted, predicted, instance)
        rows, serves = members(self.cache, as_tensor(predicted), instance)
        scores = _times(predicted, rows.T)
        mask = None if serves is None else like(serves.to(rows.dtype), scores)
        count = scores.shape[1] if mask is None else mask.sum(1)
        mean = scores.sum(1) / count if mask is None else (scores * mask).sum(1) / count
        scores -= mean[:, None]
        unit = t * self._unit(scores, mean, mask, count)
        if mask is not None:
            scores = scores + (1.0 / mask - 1.0)  # infinite where a row does not serve
        # Weights w with p = w / z: fewer passes over (batch, |S|) than a soft-max.
        scores -= row_minima(scores)[:, None]
        scores *= (-1.0 / unit)[:, None]
        w = exp_(scores)
        z = w.sum(1)
        values = _times(true, rows.T)
        expected = dot(w, values) / z
        # In closed form: autograd would walk through the soft-max and keep three (batch, |S|) tensors.
        values -= expected[:, None]
        values *= w
        slope = _times(values, rows) / (-z * unit)[:, None]
        self._last = as_tensor(w), as_tensor(z)
        return expected - dot(true, solution), slope

    @property
    def perplexity(self) -> float:
        """Effective number of solutions in the last step: ``exp`` of the mean entropy of p; 1 while warming up."""
        if self._last is None:
            return 1.0 if 0 < int(self.steps) <= self.warm_up_steps else float("nan")
        w, z = self._last
        return math.exp(float(torch.special.entr(w / z[:, None]).sum(dim=1).mean()))

    def diagnostics(self) -> dict[str, float]:
        """Perplexity and temperature, for the history."""
        return {"perplexity": self.perplexity, "temperature": self.current_temperature()}

    def _unit(self, centred: Array, mean: Array, mask: Array | None, count: Array | int) -> Array:
        """Scale of the temperature ``(batch,)``: 1, or the deviation of the scores over S, per instance.

        Args:
            centred: ``(batch, |S|)`` scores less their mean.
            mean: ``(batch,)``.
            mask: ``(batch, |S|)`` of the rows that serve, or ``None`` for all.
            count: how many these are.
        """
        if self.scale == "fixed":
            return 0.0 * mean + 1.0
        deviation = (dot(centred, centred if mask is None else centred * mask) / count) ** 0.5
        # All scores equal but for rounding (a cache of one, zero or constant predictions): their deviation is no unit,
        # and one that is noise would blow the gradient up. Any positive unit gives the uniform distribution.
        noise = 8 * epsilon(mean) * abs(mean)
        return deviation + (deviation <= noise)


def _times(a: Array, b: Tensor) -> Array:
    """``a @ b``: torch's product is the faster one for arrays too."""
    return like(as_tensor(a) @ b, a)
