"""Perturbed Fenchel-Young loss: the true optimum against the mean solution at perturbed costs."""

from __future__ import annotations

import math
from typing import Any, Literal, final

import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.losses.base import ClosedFormLoss, Reduction, dot
from regretless.problem import Oracle

Noise = Literal["additive", "multiplicative"]


@final
class PerturbedFenchelYoung(ClosedFormLoss):
    r"""Fenchel-Young loss of the perturbed optimizer (Berthet et al. 2020; multiplicative noise: Dalle et al. 2022).

    .. math:: \hat c^\top v^* - \frac{1}{K} \sum_k \tilde c_k^\top v^*(\tilde c_k), \qquad
              \tilde c_k = \hat c + \sigma Z_k \quad\text{or}\quad \hat c \odot \exp(\sigma Z_k - \tfrac{\sigma^2}{2})

    with standard normal :math:`Z_k`. Gradient: :math:`v^* - \frac{1}{K} \sum_k v^*(\tilde c_k)`, each solution weighted
    by the factor of the noise where that is multiplicative. It needs only the true optima, no true costs. Over a cache
    all K perturbations are looked up in one product.

    Args:
        oracle: a ``Problem`` for K exact solves per instance, or a ``SolutionCache``.
        sigma: size of the noise, in the units of the costs where it is additive.
        samples: K.
        noise: ``"additive"`` or ``"multiplicative"``, which keeps the signs of the costs.
        seed: of the noise; checkpoints save its generator.
        reduction: over the batch.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        sigma: float = 1.0,
        samples: int = 10,
        noise: Noise = "additive",
        seed: int = 0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(oracle, reduction=reduction)
        if not 0 < sigma < math.inf:
            raise InputError(f"sigma must be positive, got {sigma}")
        if samples < 1:
            raise InputError(f"samples must be at least 1, got {samples}")
        if noise not in ("additive", "multiplicative"):
            raise InputError(f"noise must be 'additive' or 'multiplicative', got {noise!r}")
        self.sigma, self.samples, self.noise, self.seed = float(sigma), samples, noise, seed
        self._generator = torch.Generator().manual_seed(seed)

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Losses and gradients."""
        z = torch.randn(self.samples, *predicted.shape, generator=self._generator, dtype=predicted.dtype)
        z = z.to(predicted.device) * self.sigma
        factor = (z - 0.5 * self.sigma**2).exp() if self.noise == "multiplicative" else torch.ones_like(z)
        costs = predicted + z if self.noise == "additive" else predicted * factor
        if self.problem is not None and self.problem.width > self.problem.dimension:  # known costs have no noise
            d = self.problem.dimension
            costs[..., d:], factor[..., d:] = predicted[..., d:], 1.0
        solutions = torch.stack(self.query(list(costs), predicted, true, solution, instance))
        value = dot(predicted, solution) - (costs * solutions).sum(2).mean(0)
        return value, solution - (factor * solutions).mean(0)

    def running_state(self) -> dict[str, Any]:
        """The generator of the noise."""
        return {"generator": self._generator.get_state()}

    def load_running_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved running state."""
        self._generator.set_state(state["generator"])
