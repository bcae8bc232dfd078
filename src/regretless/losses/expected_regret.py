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
from regretless.tensors import Array, as_tensor, like

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
        if not isinstance(predicted, Tensor):  # products and a soft-max over S are torch's strength
            value, slope = self.piece(as_tensor(predicted), as_tensor(true), as_tensor(solution), instance)
            return like(value, predicted), like(slope, predicted)
        step, t = int(self.steps), self.current_temperature()
        if self.training and (self.warm_up_steps or self.final_temperature is not None):
            self.steps += 1
            if 0 < step == self.warm_up_steps:
                self._became_another = True
        if self.training and step < self.warm_up_steps:
            self._last = None
            margin = predicted - true
            (chosen,) = self.ask([margin], predicted, solution, instance)
            return dot(margin, solution - chosen), solution - chosen
        self.grow(self.cache, predicted, predicted, instance)
        rows, serves = members(self.cache, predicted, instance)
        scores = predicted @ rows.T
        unit = t * self._unit(scores, serves)
        if serves is not None:
            scores = scores.masked_fill(~serves, torch.inf)
        # Weights w with p = w / z: a division less over (batch, |S|), and less than half the time of softmax().
        w = scores.sub_(scores.amin(dim=1, keepdim=True)).div_(-unit).exp_()
        z = w.sum(dim=1)
        values = true @ rows.T
        expected = torch.linalg.vecdot(w, values) / z
        # In closed form: autograd would walk through the soft-max and keep three (batch, |S|) tensors.
        slope = (values.sub_(expected[:, None]).mul_(w) @ rows) / (-z[:, None] * unit)
        self._last = w, z
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

    def _unit(self, scores: Tensor, serves: Tensor | None) -> Tensor:
        """Scale of the temperature: 1, or the deviation of the scores over S, per instance."""
        if self.scale == "fixed":
            return scores.new_ones(len(scores), 1)
        if serves is None:
            # Two passes of this are faster than std().
            mean = scores.mean(dim=1)
            deviation = torch.linalg.vector_norm(scores - mean[:, None], dim=1) / scores.shape[1] ** 0.5
        else:
            count = serves.sum(dim=1).clamp(min=1)
            mean = (scores * serves).sum(dim=1) / count
            deviation = (((scores - mean[:, None]) * serves).square().sum(dim=1) / count).sqrt()
        # All scores equal but for rounding (a cache of one, zero or constant predictions): their deviation is no unit,
        # and one that is noise would blow the gradient up. Any positive unit gives the uniform distribution.
        noise = 8 * torch.finfo(scores.dtype).eps * mean.abs()
        return torch.where(deviation > noise, deviation, 1.0)[:, None]
