"""What the perturbed losses share: K noisy cost vectors per instance, and one query for all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.losses.base import Reduction
from regretless.losses.closed_form import ClosedFormLoss
from regretless.number_checks import check_integer, check_number
from regretless.oracle import Oracle

Noise = Literal["additive", "multiplicative"]


@dataclass(frozen=True)
class Perturbed:
    """Perturbed costs of one step, all ``(K, batch, width)``.

    Attributes:
        costs: the perturbed costs.
        z: the noise, before it is scaled by sigma.
        factor: what multiplied the predicted costs; ``None`` where the noise was added.
    """

    costs: Tensor
    z: Tensor
    factor: Tensor | None


class PerturbedLoss(ClosedFormLoss):
    """Base of the losses that solve at K perturbed cost vectors per instance.

    The noise is drawn as ``(batch, K, width)`` from torch's generator. This is PyEPO's order, so that the same seed
    gives the same noise there and here, if there are no known costs. Known costs have no noise.

    Args:
        oracle: a ``Problem`` or a ``SolutionCache``.
        sigma: size of the noise, in the units of the costs where it is additive.
        samples: K.
        noise: ``"additive"`` or ``"multiplicative"``.
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
        if noise not in ("additive", "multiplicative"):
            raise InputError(f"noise must be 'additive' or 'multiplicative', got {noise!r}")
        self.sigma, self.samples = check_number("sigma", sigma), check_integer("samples", samples, least=1)
        self.noise, self.seed = noise, check_integer("seed", seed, least=0)
        self._generator = torch.Generator().manual_seed(self.seed)

    def perturb(self, predicted: Tensor, instance: Tensor | None = None) -> Perturbed:
        """Draw the noise of a step and perturb ``(batch, width)`` costs, of the ``(batch,)`` members of a family."""
        batch, width = predicted.shape
        z = self.draw((batch, self.samples, width), predicted.dtype)
        z = z.to(predicted.device).transpose(0, 1).contiguous()
        if self.noise == "additive":
            self._without_known(z, 0.0)
            return Perturbed(torch.add(predicted, z, alpha=self.sigma), z, None)
        factor = self._without_known((self.sigma * z - 0.5 * self.sigma**2).exp(), 1.0)
        own = self.without_known_costs(predicted, instance)
        costs = own * factor
        return Perturbed(costs if own is predicted else costs + (predicted - own), z, factor)

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Noise of a step: standard normal numbers."""
        return torch.randn(shape, generator=self._generator, dtype=dtype)

    def without_known_costs(self, costs: Tensor, instance: Tensor | None) -> Tensor:
        """The predicted part of minimizing costs ``(batch, width)``; the costs themselves where none are known."""
        assert self.problem is not None
        if not self.problem.has_known_costs:
            return costs
        return costs - self.problem.to_minimization(costs.new_zeros(len(costs), self.problem.dimension), instance)

    def solutions_at(
        self, costs: Tensor, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> Tensor:
        """Solutions ``(m, batch, width)`` at ``m`` cost vectors per instance; over a cache by one product."""
        return torch.stack(self.query(costs.unbind(), predicted, true, solution, instance))

    def running_state(self) -> dict[str, Any]:
        """The generator of the noise."""
        return {"generator": self._generator.get_state()}

    def load_running_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved running state."""
        self._generator.set_state(state["generator"])

    def _without_known(self, noise: Tensor, neutral: float) -> Tensor:
        """Set the coordinates of known costs, where there are some, in place."""
        assert self.problem is not None
        if self.problem.width > self.problem.dimension:
            noise[..., self.problem.dimension :] = neutral
        return noise


def sum_of_gamma_noise(
    shape: tuple[int, ...], generator: torch.Generator, dtype: torch.dtype, *, kappa: float = 5.0, terms: int = 10
) -> Tensor:
    """Noise of I-MLE: the sum of ``terms`` gamma variables, centered (Niepert et al. 2021, Eq. 8)."""
    # The distributions of torch take no generator; this is the function behind them.
    draws = torch._standard_gamma(torch.full((terms, *shape), 1.0 / kappa, dtype=dtype), generator=generator)
    weights = kappa / torch.arange(1, terms + 1, dtype=dtype)
    total: Tensor = torch.tensordot(weights, draws, dims=1)
    return (total - math.log(terms)) / kappa
